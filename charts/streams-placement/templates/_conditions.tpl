{{/* Joins conditions into one expression, the most selective first: the API server evaluates all matchConditions, but stops within an expression at the first false operand. */}}
{{- define "streams-placement.all" -}}
{{- $root := .root }}
{{- range $at, $name := .of }}{{ if $at }} && {{ end }}({{ include (printf "streams-placement.%s" $name) $root }}){{ end }}
{{- end -}}

{{/* Pods that ask for hosts: by an annotation of the product, or by a label of a job. */}}
{{- define "streams-placement.optedIn" -}}
object.metadata.?annotations.orValue({}).exists(k, k.startsWith('streams.ibm.com/')) || ['streams.ibm.com/job', 'streams.ibm.com/pe'].exists(l, l in object.metadata.?labels.orValue({}))
{{- end -}}

{{/* Pods that the webhook judges. Only the webhook writes seals, so a pod that is created with a seal is reviewed here: the guard skips it later. In audit mode the webhook writes no seals. */}}
{{- define "streams-placement.asksOrSealed" -}}
{{ include "streams-placement.optedIn" . }}{{ if ne .Values.settings.mode "audit" }} || 'streams.ibm.com/seal' in object.metadata.?labels.orValue({}){{ end }}
{{- end -}}

{{/* The template of a workload's pods, as a list of one: CEL has no other way to name a thing. A PodTemplate has no spec. */}}
{{- define "streams-placement.templates" -}}
[has(object.template) ? object.template : has(object.spec.jobTemplate) ? object.spec.jobTemplate.spec.template : object.spec.template]
{{- end -}}

{{/* Workloads whose pods ask for hosts. */}}
{{- define "streams-placement.template" -}}
{{ include "streams-placement.templates" . }}.exists(t, t.?metadata.?annotations.orValue({}).exists(k, k.startsWith('streams.ibm.com/')) || ['streams.ibm.com/job', 'streams.ibm.com/pe'].exists(l, l in t.?metadata.?labels.orValue({})))
{{- end -}}

{{/* Workloads with an annotation that does not reach their pods: their own, or that of a CronJob's Jobs. */}}
{{- define "streams-placement.misplaced" -}}
{{ include "streams-placement.templates" . }}.exists(t, [object.metadata, object.?spec.?jobTemplate.?metadata.orValue({})].exists(m, m.?annotations.orValue({}).exists(k, {{ include "streams-placement.protected" . }} && m.?annotations[?k] != t.?metadata.?annotations[?k])))
{{- end -}}

{{/* Workloads whose pod template has a seal. If the template asks for nothing, its pods are refused one by one. In audit mode the webhook writes no seals. */}}
{{- define "streams-placement.sealedTemplate" -}}
{{ include "streams-placement.templates" . }}.exists(t, 'streams.ibm.com/seal' in t.?metadata.?labels.orValue({}))
{{- end -}}

{{/* Workloads that ask for hosts, in the template or on the workload itself, or have a seal. */}}
{{- define "streams-placement.asks" -}}
{{ include "streams-placement.template" . }} || {{ include "streams-placement.misplaced" . }}{{ if ne .Values.settings.mode "audit" }} || {{ include "streams-placement.sealedTemplate" . }}{{ end }}
{{- end -}}

{{/* New workloads, and updates that change the template or raise replicas or parallelism. */}}
{{- define "streams-placement.grown" -}}
request.operation != 'UPDATE'
|| [has(object.template) ? [object, oldObject] : [has(object.spec.jobTemplate) ? object.spec.jobTemplate.spec : object.spec, has(oldObject.spec.jobTemplate) ? oldObject.spec.jobTemplate.spec : oldObject.spec]].exists(s, s[0].template != s[1].template || s[0].?replicas.orValue(1) > s[1].?replicas.orValue(1) || s[0].?parallelism.orValue(1) > s[1].?parallelism.orValue(1) || s[0].?completions != s[1].?completions || s[0].?completionMode != s[1].?completionMode)
|| [[object.?spec.orValue({}), oldObject.?spec.orValue({})], [object.?spec.?jobTemplate.?spec.orValue({}), oldObject.?spec.?jobTemplate.?spec.orValue({})]].exists(s, s[1].?suspend.orValue(false) && !s[0].?suspend.orValue(false))
{{- end -}}

{{/* The same, and updates that change the workload's own annotations. */}}
{{- define "streams-placement.changed" -}}
{{ include "streams-placement.grown" . }}
|| [[object.metadata, oldObject.metadata], [object.?spec.?jobTemplate.?metadata.orValue({}), oldObject.?spec.?jobTemplate.?metadata.orValue({})]].exists(m, m[0].?annotations.orValue({}).exists(k, {{ include "streams-placement.protected" . }} && m[0].?annotations[?k] != m[1].?annotations[?k]))
{{- end -}}

{{/* The condition of the kind that an object has, from a field of each of the kinds: nothing of the others is evaluated. Their sorted names are halved, so that few are compared. */}}
{{- define "streams-placement.byKind" -}}
{{- $names := .names }}
{{- $half := div (len $names) 2 | int }}
{{- if not $names -}}
false
{{- else if eq $half 0 -}}
{{ get (get .kinds (first $names)) .field }}
{{- else -}}
(object.kind < '{{ index $names $half }}' ? {{ include "streams-placement.byKind" (merge (dict "names" (slice $names 0 $half)) .) }} : {{ include "streams-placement.byKind" (merge (dict "names" (slice $names $half)) .) }})
{{- end -}}
{{- end -}}

{{/* Applications of other operators: only the spec and the product's own annotations and labels determine the pods. */}}
{{- define "streams-placement.applicationChanged" -}}
request.operation != 'UPDATE' || object.?spec != oldObject.?spec || [[object.metadata, oldObject.metadata], [oldObject.metadata, object.metadata]].exists(m, m[0].?annotations.orValue({}).exists(k, k.startsWith('streams.ibm.com/') && m[0].?annotations[?k] != m[1].?annotations[?k]) || m[0].?labels.orValue({}).exists(k, k.startsWith('streams.ibm.com/') && m[0].?labels[?k] != m[1].?labels[?k]))
{{- end -}}

{{/* All objects but those that Kubernetes' controllers create for a Deployment or CronJob, which was reviewed as a whole. The user matters, since every user can write an ownerReference. */}}
{{- define "streams-placement.notOwned" -}}
{{- if and .Values.settings.provisioningRequests (eq .Values.settings.scaleUp "auto") -}}
(request.kind.kind != 'PodTemplate' || {{ include "streams-placement.notTheController" . }}) && (
{{- end -}}
!object.metadata.?ownerReferences.orValue([]).exists(o, o.?controller.orValue(false) && o.kind in ['Deployment', 'CronJob']) || !(request.userInfo.username == 'system:kube-controller-manager' || request.userInfo.username.startsWith('system:serviceaccount:kube-system:'))
{{- if and .Values.settings.provisioningRequests (eq .Values.settings.scaleUp "auto") -}}
)
{{- end -}}
{{- end -}}

{{/* Mirror pods of static pods, which are never scheduled. Every user can write the annotation, so only kubelets are trusted. */}}
{{- define "streams-placement.isMirror" -}}
'kubernetes.io/config.mirror' in object.metadata.?annotations.orValue({}) && 'system:nodes' in request.userInfo.?groups.orValue([])
{{- end -}}
{{- define "streams-placement.notMirror" -}}
!({{ include "streams-placement.isMirror" . }})
{{- end -}}

{{/* New ParallelRegions, and updates that raise the width: of the object, or of its Scale. */}}
{{- define "streams-placement.widened" -}}
request.operation != 'UPDATE' || object.?spec.?replicas.orValue(object.?spec.?width.orValue(0)) > oldObject.?spec.?replicas.orValue(oldObject.?spec.?width.orValue(0))
{{- end -}}

{{/* Updates of objects that are being deleted must never be refused. */}}
{{- define "streams-placement.alive" -}}
!has(object.metadata.deletionTimestamp)
{{- end -}}

{{/* Pods of the DaemonSet controller, under both of its user names: nodes need them to become ready. The user matters, since every user can write an ownerReference. */}}
{{- define "streams-placement.ofDaemonSet" -}}
request.userInfo.username in ['system:serviceaccount:kube-system:daemon-set-controller', 'system:kube-controller-manager'] && object.metadata.?ownerReferences.orValue([]).exists(o, o.?controller.orValue(false) && o.kind == 'DaemonSet' && o.apiVersion == 'apps/v1')
{{- end -}}

{{/* Workloads that a policy may refuse: their pods ask for hosts, or tolerate the taint of exclusive hosts by key. */}}
{{- define "streams-placement.asksOrTolerates" -}}
{{ include "streams-placement.template" . }} || {{ include "streams-placement.templates" . }}.exists(p, p.spec.?tolerations.orValue([]).exists(t, {{ include "streams-placement.ofTheTaint" . }}))
{{- end -}}

{{/* New pods that a policy may refuse: the controller creates them, they ask for hosts and were not reviewed, or they tolerate that taint. */}}
{{- define "streams-placement.unseenOrTolerates" -}}
{{ include "streams-placement.theJobController" . }} || (({{ include "streams-placement.optedIn" . }}) ? {{ include "streams-placement.leftAlone" . }} || !({{ include "streams-placement.seen" . }}) : {{ include "streams-placement.tolerates" . }} && !({{ include "streams-placement.leftAlone" . }}) && !({{ include "streams-placement.ofDaemonSet" . }}))
{{- end -}}

{{/* Updates that a policy evaluates. For all others, such as status updates, only this condition is evaluated. */}}
{{- define "streams-placement.placeChanged" -}}
object.metadata.?annotations != oldObject.metadata.?annotations || object.metadata.?labels != oldObject.metadata.?labels || object.spec.?tolerations != oldObject.spec.?tolerations
{{- end -}}

{{/* Whether the pod has exclusive cores, which no status update changes. */}}
{{- define "streams-placement.bound" -}}
request.?subResource.orValue('') != 'status' && oldObject.metadata.?annotations[?'streams.ibm.com/kubernetes.bind.worker.to.cpu'].orValue('') == 'true'
{{- end -}}

{{/* Updates that the policy for placement and exclusive cores evaluates. */}}
{{- define "streams-placement.changedOrBound" -}}
({{ include "streams-placement.placeChanged" . }}) && {{ include "streams-placement.alive" . }} || {{ include "streams-placement.bound" . }}
{{- end -}}

{{/* Updates of nodes that a policy evaluates: heartbeats change neither labels nor taints. */}}
{{- define "streams-placement.marksChanged" -}}
request.operation != 'UPDATE' || object.metadata.?labels != oldObject.metadata.?labels || object.spec.?taints != oldObject.spec.?taints
{{- end -}}

{{/* Whether the webhook has reviewed the pod. In audit mode it writes no seal. */}}
{{- define "streams-placement.seen" -}}
'streams.ibm.com/injected' in object.metadata.?annotations.orValue({}){{ if ne .Values.settings.mode "audit" }} && 'streams.ibm.com/seal' in object.metadata.?labels.orValue({}){{ end }}
{{- end -}}

{{/* Pods that tolerate the taint of exclusive hosts by its key. */}}
{{- define "streams-placement.tolerates" -}}
object.spec.?tolerations.orValue([]).exists(t, {{ include "streams-placement.ofTheTaint" . }})
{{- end -}}

{{/* Whether the user may tolerate exclusive hosts. The right is cluster-wide, as nodes are. It comes last in a condition, so that few requests reach the authorizer. */}}
{{- define "streams-placement.mayTolerate" -}}
authorizer.group('streams.ibm.com').resource('streamshostpools').check('tolerate').allowed()
{{- end -}}

{{- define "streams-placement.notOptedIn" -}}
!({{ include "streams-placement.optedIn" . }})
{{- end -}}
{{- define "streams-placement.asksNotNorSealed" -}}
!({{ include "streams-placement.asksOrSealed" . }})
{{- end -}}
{{- define "streams-placement.doesNotAsk" -}}
!({{ include "streams-placement.asks" . }})
{{- end -}}

{{/* A toleration t of exclusive hosts, by the key of their taint. */}}
{{- define "streams-placement.ofTheTaint" -}}
t.?key.orValue('') == 'streams.ibm.com/exclusive'
{{- end -}}

{{/* A toleration t of every taint. */}}
{{- define "streams-placement.ofEverything" -}}
t.?key.orValue('') == '' && t.?operator.orValue('') == 'Exists'
{{- end -}}

{{/* Ways around a taint: bypassing the scheduler, or tolerating every taint. */}}
{{- define "streams-placement.guarded" -}}
object.spec.?nodeName.orValue('') != '' || object.spec.?tolerations.orValue([]).exists(t, {{ include "streams-placement.ofEverything" . }})
{{- end -}}

{{/* Users that may not bypass the taint: all but the DaemonSet controller and users with the right to tolerate exclusive hosts. */}}
{{- define "streams-placement.guard" -}}
!({{ include "streams-placement.ofDaemonSet" . }}) && !{{ include "streams-placement.mayTolerate" . }}
{{- end -}}

{{/* The same in the template of a workload. */}}
{{- define "streams-placement.guardTemplate" -}}
{{ include "streams-placement.templates" . }}.exists(p, p.spec.?nodeName.orValue('') != '' || p.spec.?tolerations.orValue([]).exists(t, {{ include "streams-placement.ofEverything" . }}))
{{- end -}}

{{/* The same in the template of a DaemonSet, whose controller respects taints: a toleration of every taint, if the toleration or the node selection is new. */}}
{{- define "streams-placement.guardDaemons" -}}
object.spec.template.spec.?tolerations.orValue([]).exists(t, {{ include "streams-placement.ofEverything" . }}) && (request.operation != 'UPDATE' || object.spec.template.spec.?tolerations != oldObject.spec.template.spec.?tolerations || object.spec.template.spec.?nodeSelector != oldObject.spec.template.spec.?nodeSelector || object.spec.template.spec.?affinity != oldObject.spec.template.spec.?affinity) && !{{ include "streams-placement.mayTolerate" . }}
{{- end -}}

{{/* The same for updates of a pod: a new toleration of every taint; or that or one of exclusive hosts on a pod whose scheduling gates changed, or whose node selection changed while it was gated. */}}
{{- define "streams-placement.guardChanged" -}}
object.spec.?tolerations.orValue([]).exists(t, t.?key.orValue('') in ['', 'streams.ibm.com/exclusive'] && ({{ include "streams-placement.ofEverything" . }} && !(t in oldObject.spec.?tolerations.orValue([])) || has(oldObject.spec.schedulingGates) && (object.spec.?schedulingGates != oldObject.spec.?schedulingGates || object.spec.?nodeSelector != oldObject.spec.?nodeSelector || object.spec.?affinity != oldObject.spec.?affinity))) && !{{ include "streams-placement.mayTolerate" . }}
{{- end -}}

{{/* The failure policy for pods that ask for nothing. With strict, no pod reaches an exclusive host while the webhook does not answer. */}}
{{- define "streams-placement.guardFailurePolicy" -}}
{{ .Values.webhook.guardFailurePolicy | default (.Values.settings.strict | ternary "Fail" "Ignore") }}
{{- end -}}

{{/* Node updates that may affect pods or pools. Heartbeats cause no call. */}}
{{- define "streams-placement.relevant" -}}
request.operation != 'UPDATE' || object.metadata.?labels.orValue({}) != oldObject.metadata.?labels.orValue({}) || object.spec.?taints.orValue([]) != oldObject.spec.?taints.orValue([]) || object.spec.?unschedulable.orValue(false) != oldObject.spec.?unschedulable.orValue(false)
{{- end -}}

{{/* The accounts that assign nodes to HostPools and release them: the controller and the uninstallation hook. */}}
{{- define "streams-placement.theController" -}}
{{- $account := printf "system:serviceaccount:%s:%s" .Release.Namespace (include "streams-placement.fullname" .) -}}
request.userInfo.username in ['{{ $account }}-controller', '{{ $account }}-release']
{{- end -}}
{{/* The account that creates the pods of processing elements. */}}
{{- define "streams-placement.theJobController" -}}
request.userInfo.username == 'system:serviceaccount:{{ .Release.Namespace }}:{{ include "streams-placement.fullname" . }}-controller'
{{- end -}}

{{/* Whether the object o is a pod of a processing element. */}}
{{- define "streams-placement.ofElement" -}}
has(o.metadata.ownerReferences) && size(o.metadata.ownerReferences) == 1 && o.metadata.ownerReferences[0].kind == 'ProcessingElement' && o.metadata.ownerReferences[0].apiVersion == 'streams.ibm.com/v1' && o.metadata.ownerReferences[0].?controller.orValue(false) && 'streams.ibm.com/job' in o.metadata.?labels.orValue({}) && o.metadata.?labels[?'streams.ibm.com/pe'].orValue('') == o.metadata.ownerReferences[0].name
{{- end -}}

{{/* The poolable nodes in CEL, from a label selector whose syntax checks.yaml has checked. */}}
{{- define "streams-placement.poolable" -}}
{{- $found := list }}
{{- range regexFindAll "[^,(]+([(][^)]*[)])?[^,(]*" .Values.settings.poolableNodes -1 }}
{{- $part := trim . }}
{{- if $part }}
{{- $key := regexFind "[A-Za-z0-9][-A-Za-z0-9_./]*" $part }}
{{- $rest := regexReplaceAll "^!?\\s*[A-Za-z0-9][-A-Za-z0-9_./]*\\s*" $part "" }}
{{- $value := regexReplaceAll "^(==?|!=|[<>])\\s*" $rest "" | trim }}
{{- $has := printf "'%s' in variables.labels" $key }}
{{- $label := printf "variables.labels['%s']" $key }}
{{- if hasPrefix "!" $part }}
{{- $found = append $found (printf "!(%s)" $has) }}
{{- else if not $rest }}
{{- $found = append $found $has }}
{{- else if hasPrefix "!=" $rest }}
{{- $found = append $found (printf "!(%s && %s == '%s')" $has $label $value) }}
{{- else if hasPrefix "=" $rest }}
{{- $found = append $found (printf "%s && %s == '%s'" $has $label $value) }}
{{- else if or (hasPrefix "<" $rest) (hasPrefix ">" $rest) }}
{{- $found = append $found (printf "%s && %s.matches('^-?[0-9]{1,18}$') && int(%s) %s %s" $has $label $label (substr 0 1 $rest) $value) }}
{{- else }}
{{- $values := list }}
{{- range regexFind "[(].*[)]" $rest | trimPrefix "(" | trimSuffix ")" | splitList "," }}
{{- $values = append $values (trim . | squote) }}
{{- end }}
{{- $in := printf "%s && %s in [%s]" $has $label (join ", " $values) }}
{{- $found = append $found (hasPrefix "notin" $rest | ternary (printf "!(%s)" $in) $in) }}
{{- end }}
{{- end }}
{{- end }}
{{- if $found }}({{ join ") && (" $found }}){{ else }}true{{ end }}
{{- end -}}
{{- define "streams-placement.notTheController" -}}
!({{ include "streams-placement.theController" . }})
{{- end -}}

{{/* Kubernetes' own users: they report the state of nodes, ignore warnings, and must never be blocked. */}}
{{- define "streams-placement.notThePlatform" -}}
!['system:node:', 'system:serviceaccount:kube-system:', 'system:kube-', 'system:cloud-'].exists(p, request.userInfo.username.startsWith(p))
{{- end -}}

{{/* The product's keys in the map of that name, except those that the Streams instance operator writes at any time. */}}
{{- define "streams-placement.protected" -}}
k.startsWith('streams.ibm.com/') && !(k in ['streams.ibm.com/applicationName', 'streams.ibm.com/applicationScope', 'streams.ibm.com/contentId', 'streams.ibm.com/redisConfig'])
{{- end -}}

{{/* Deny, except in audit mode, in which the webhook adds nothing that a policy could require. */}}
{{- define "streams-placement.actions" -}}
{{- if eq .Values.settings.mode "audit" -}}
[Warn, Audit]
{{- else -}}
[Deny]
{{- end -}}
{{- end -}}

{{/* Whether the webhook does not review the namespace. */}}
{{- define "streams-placement.leftAlone" -}}
request.namespace in {{ concat (list "kube-system" .Release.Namespace) .Values.webhook.excludedNamespaces | uniq | sortAlpha | toJson | replace "\"" "'" }}
{{- end -}}

{{/* Messages shared by the policies for pods and for workloads. */}}
{{- define "streams-placement.unseen" -}}
'this pod asks for hosts, but the webhook of streams-placement has not reviewed it: '
{{- end -}}
{{- define "streams-placement.onlyElements" -}}
the controller of Jobs may only create pods of ProcessingElements, outside excluded namespaces
{{- end -}}
{{- define "streams-placement.elsewhere" -}}
'namespace ' + request.namespace + ' is excluded, use another one'
{{- end -}}
{{- define "streams-placement.onlyTheWebhook" -}}
spec.tolerations: only the webhook tolerates streams.ibm.com/exclusive: name the exclusive HostPool with host(...) instead
{{- end -}}
{{- define "streams-placement.theRight" -}}
the verb tolerate on streamshostpools.streams.ibm.com in the whole cluster
{{- end -}}
