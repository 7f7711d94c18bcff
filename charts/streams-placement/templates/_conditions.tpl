{{/* Which pods ask for hosts themselves: by an annotation of ours, or by belonging to a job. */}}
{{- define "streams-placement.optedIn" -}}
object.metadata.?annotations.orValue({}).exists(k, k.startsWith('streams.ibm.com/')) || ['streams.ibm.com/job', 'streams.ibm.com/pe'].exists(l, l in object.metadata.?labels.orValue({}))
{{- end -}}

{{/* Which workloads have such pods. */}}
{{- define "streams-placement.template" -}}
[has(object.spec.jobTemplate) ? object.spec.jobTemplate.spec.template : object.spec.template].exists(t, t.?metadata.?annotations.orValue({}).exists(k, k.startsWith('streams.ibm.com/')) || ['streams.ibm.com/job', 'streams.ibm.com/pe'].exists(l, l in t.?metadata.?labels.orValue({})))
{{- end -}}

{{/* The API server's image of a static pod, which nobody schedules. */}}
{{- define "streams-placement.notMirror" -}}
!('kubernetes.io/config.mirror' in object.metadata.?annotations.orValue({}))
{{- end -}}

{{/* What is being deleted must never be kept from it. */}}
{{- define "streams-placement.alive" -}}
!has(object.metadata.deletionTimestamp)
{{- end -}}

{{/* Pods of DaemonSets: nodes need them to become ready, the webhook's own among them. */}}
{{- define "streams-placement.notDaemonSet" -}}
!object.metadata.?ownerReferences.orValue([]).exists(o, o.?controller.orValue(false) && o.kind == 'DaemonSet')
{{- end -}}

{{/* Ways round a taint: no scheduler, or a toleration of everything. */}}
{{- define "streams-placement.guard" -}}
object.spec.?nodeName.orValue('') != '' || object.spec.?tolerations.orValue([]).exists(t, t.?key.orValue('') == '' && t.?operator.orValue('') == 'Exists')
{{- end -}}

{{/* The same on a pod that exists: a toleration of everything that was not there. */}}
{{- define "streams-placement.guardAdded" -}}
object.spec.?tolerations.orValue([]).exists(t, t.?key.orValue('') == '' && t.?operator.orValue('') == 'Exists' && !(t in oldObject.spec.?tolerations.orValue([])))
{{- end -}}

{{/* A node whose pods, or pools, may care: heartbeats cost no call. */}}
{{- define "streams-placement.relevant" -}}
request.operation != 'UPDATE' || object.metadata.?labels.orValue({}) != oldObject.metadata.?labels.orValue({}) || object.spec.?taints.orValue([]) != oldObject.spec.?taints.orValue([]) || object.spec.?unschedulable.orValue(false) != oldObject.spec.?unschedulable.orValue(false)
{{- end -}}

{{/* The controller of HostPools, whose labels and taints they are. */}}
{{- define "streams-placement.notTheController" -}}
request.userInfo.username != 'system:serviceaccount:{{ .Release.Namespace }}:{{ include "streams-placement.fullname" . }}-controller'
{{- end -}}

{{/* Kubernetes itself: it states what is so, reads no warnings, and must never be kept from it. */}}
{{- define "streams-placement.notThePlatform" -}}
!['system:node:', 'system:serviceaccount:kube-system:', 'system:kube-', 'system:cloud-'].exists(p, request.userInfo.username.startsWith(p))
{{- end -}}

{{/* Our keys among the map of that name, but for those of the Streams instance operator, which writes them when it likes. */}}
{{- define "streams-placement.protected" -}}
k.startsWith('streams.ibm.com/') && !(k in ['streams.ibm.com/applicationName', 'streams.ibm.com/applicationScope', 'streams.ibm.com/contentId', 'streams.ibm.com/redisConfig'])
{{- end -}}

{{/* Deny, but in audit mode, in which the webhook adds nothing that a policy could ask for. */}}
{{- define "streams-placement.actions" -}}
{{- if eq .Values.settings.mode "audit" -}}
[Warn, Audit]
{{- else -}}
[Deny]
{{- end -}}
{{- end -}}
