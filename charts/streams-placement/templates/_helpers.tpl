{{/* The base name of the release's objects, short enough for the suffixes that some of them append. */}}
{{- define "streams-placement.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 45 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 45 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* The name of the objects of EMCO's REST interface. */}}
{{- define "streams-placement.hpaApi" -}}
{{ include "streams-placement.fullname" . }}-hpa-api
{{- end -}}

{{/* The name of the APIService of PlacementReviews, by group and version. */}}
{{- define "streams-placement.apiService" -}}
v1.placement.streams.ibm.com
{{- end -}}

{{/* Called with a dict of root and component. Nothing here may begin with streams.ibm.com/: that would ask for hosts. */}}
{{- define "streams-placement.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "streams-placement.labels" -}}
{{ include "streams-placement.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "streams-placement.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Each certificate source has its own Secret, since none may write that of another. */}}
{{- define "streams-placement.secret" -}}
{{- if eq .Values.tls.source "existingSecret" -}}
{{ .Values.tls.existingSecret.name }}
{{- else -}}
{{ include "streams-placement.fullname" . }}-{{ eq .Values.tls.source "managed" | ternary "tls" "cert-manager-tls" }}
{{- end -}}
{{- end -}}

{{/* Namespaces that are never reviewed, sorted, so that the order in the values does not matter. */}}
{{- define "streams-placement.excluded" -}}
key: kubernetes.io/metadata.name
operator: NotIn
values: {{ concat (list "kube-system" .Release.Namespace) .Values.webhook.excludedNamespaces | uniq | sortAlpha | toJson }}
{{- end -}}

{{/* The namespaceSelector of a webhook: the selected namespaces without the excluded ones; optionally only enabled ones, or all. */}}
{{- define "streams-placement.namespaces" -}}
{{- $chosen := ternary (dict) .root.Values.webhook.namespaceSelector (.all | default false) }}
{{- $own := ternary (dict "streams.ibm.com/inject" "enabled") (dict) .enabled }}
{{- with merge $own ($chosen.matchLabels | default (dict)) }}
matchLabels: {{ toJson . }}
{{- end }}
matchExpressions:
- {{ include "streams-placement.excluded" .root | indent 2 | trim }}
{{- range $chosen.matchExpressions }}
- {{ toJson . }}
{{- end }}
{{- end -}}

{{/* The namespaces that the values select, for an admission policy: empty if they select all. */}}
{{- define "streams-placement.chosenNamespaces" -}}
{{- with .Values.webhook.namespaceSelector }}
namespaceSelector: {{ toJson . }}
{{- end }}
{{- end -}}

{{/* Settings from the values, for each program. */}}
{{- define "streams-placement.settings" -}}
{{- range $name, $value := .Values.settings }}
- name: STREAMS_PLACEMENT_{{ $name | snakecase | upper }}
  value: {{ $value | toString | quote }}
{{- end }}
- name: STREAMS_PLACEMENT_EXCLUDED_NAMESPACES
  value: {{ concat (list "kube-system" .Release.Namespace) .Values.webhook.excludedNamespaces | uniq | sortAlpha | join "," | quote }}
{{- end -}}

{{/* Where the API server asks; called with a dict of root and path.

No caBundle is rendered unless the values have it: it belongs to the program that makes the certificates. Neither a server-side
apply nor a three-way merge touches a field that the chart has never said, so it survives every upgrade.
*/}}
{{- define "streams-placement.client" -}}
{{- with .root.Values.tls }}
{{- if and (eq .source "existingSecret") .existingSecret.caBundle }}
caBundle: {{ .existingSecret.caBundle | b64enc }}
{{- end }}
{{- end }}
service:
  name: {{ include "streams-placement.fullname" .root }}
  namespace: {{ .root.Release.Namespace }}
  path: {{ .path }}
  port: {{ .root.Values.service.port }}
{{- end -}}

{{- define "streams-placement.injection" -}}
{{- if eq .Values.tls.source "cert-manager" }}
annotations:
  cert-manager.io/inject-ca-from: {{ .Release.Namespace }}/{{ include "streams-placement.fullname" . }}
{{- end }}
{{- end -}}

{{/* The parts of a pod spec that all pods share; called with a dict of root and component. */}}
{{- define "streams-placement.podMetadata" -}}
labels:
  {{- include "streams-placement.labels" . | nindent 2 }}
  {{- with .root.Values.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .root.Values.podAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "streams-placement.podSpec" -}}
# A Service called streams-placement would otherwise set STREAMS_PLACEMENT_PORT, which is a setting.
enableServiceLinks: false
automountServiceAccountToken: true
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
# Tolerates exclusive nodes, whatever the effect of their taint: the controller that releases them must run even if all nodes are exclusive. The policies exempt the release's namespace.
tolerations:
  {{- toYaml (concat (list (dict "key" "streams.ibm.com/exclusive" "operator" "Exists")) .Values.tolerations | uniq) | nindent 2 }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile:
    type: RuntimeDefault
{{- end -}}

{{- define "streams-placement.containerSecurity" -}}
image: {{ include "streams-placement.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  runAsNonRoot: true
  capabilities:
    drop: [ALL]
  seccompProfile:
    type: RuntimeDefault
{{- end -}}

{{/* The only peer of the chart's pods is the API server. They reach it by address and need no DNS. */}}
{{- define "streams-placement.apiServer" -}}
- ports:
  {{- range .Values.networkPolicy.apiServerPorts }}
  - port: {{ . }}
  {{- end }}
  {{- with .Values.networkPolicy.apiServerCIDRs }}
  to:
  {{- range . }}
  - ipBlock: {cidr: {{ . | quote }}}
  {{- end }}
  {{- end }}
{{- end -}}

{{/* The environment of OpenTelemetry's exporter. All references are optional: if one is missing, traces are lost and pods still start. */}}
{{- define "streams-placement.tracesEnvironment" -}}
{{- if .Values.settings.tracesEndpoint }}
{{- with .Values.traces }}
- name: OTEL_EXPORTER_OTLP_COMPRESSION
  value: {{ .compression }}
{{- with .resourceAttributes }}
- name: OTEL_RESOURCE_ATTRIBUTES
  value: {{ . | quote }}
{{- end }}
{{- if .headers.secret }}
- name: OTEL_EXPORTER_OTLP_HEADERS
  valueFrom:
    secretKeyRef: {name: {{ .headers.secret }}, key: {{ .headers.key | quote }}, optional: true}
{{- end }}
{{- if .certificate.configMap }}
- name: OTEL_EXPORTER_OTLP_CERTIFICATE
  value: /etc/streams-placement/collector-ca/ca.crt
{{- end }}
{{- if .client.secret }}
- name: OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE
  value: /etc/streams-placement/collector-client/tls.crt
- name: OTEL_EXPORTER_OTLP_CLIENT_KEY
  value: /etc/streams-placement/collector-client/tls.key
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The volume mounts of the files that the environment names. */}}
{{- define "streams-placement.tracesMounts" -}}
{{- if .Values.settings.tracesEndpoint }}
{{- if .Values.traces.certificate.configMap }}
- name: collector-ca
  mountPath: /etc/streams-placement/collector-ca
  readOnly: true
{{- end }}
{{- if .Values.traces.client.secret }}
- name: collector-client
  mountPath: /etc/streams-placement/collector-client
  readOnly: true
{{- end }}
{{- end }}
{{- end -}}

{{/* The volumes of these files. */}}
{{- define "streams-placement.tracesVolumes" -}}
{{- if .Values.settings.tracesEndpoint }}
{{- with .Values.traces.certificate }}
{{- if .configMap }}
- name: collector-ca
  configMap:
    name: {{ .configMap }}
    optional: true
    items:
    - {key: {{ .key | quote }}, path: ca.crt}
{{- end }}
{{- end }}
{{- with .Values.traces.client.secret }}
- name: collector-client
  secret:
    secretName: {{ . }}
    optional: true
    defaultMode: 0440
    items:
    - {key: tls.crt, path: tls.crt}
    - {key: tls.key, path: tls.key}
{{- end }}
{{- end }}
{{- end -}}

{{/* Egress for traces: to the port of the collector's URL, and to DNS. */}}
{{- define "streams-placement.collector" -}}
{{- $url := urlParse .Values.settings.tracesEndpoint }}
{{- $port := regexFind "[0-9]+$" (regexFind ":[0-9]+$" $url.host) }}
- ports:
  - port: {{ $port | default (ternary 443 80 (eq $url.scheme "https")) }}
- ports:
  - {port: 53, protocol: UDP}
  - {port: 53, protocol: TCP}
{{- end -}}

{{/* Annotations of objects for the uninstallation only; called with the hook weight: lower weights run first. A failed Job is kept for its log. */}}
{{- define "streams-placement.beforeDeletion" -}}
helm.sh/hook: pre-delete
helm.sh/hook-weight: {{ . | quote }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end -}}

{{/* Annotations of objects that helm creates for `helm test` and deletes once the test has passed; the argument is the delete policy. */}}
{{- define "streams-placement.duringTest" -}}
helm.sh/hook: test
helm.sh/hook-weight: {{ . | quote }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end -}}

{{/* A quantity as text: YAML parses some as numbers, and Go prints large ones with an exponent. */}}
{{- define "streams-placement.plain" -}}
{{- regexReplaceAll "[eE][+]" (toString .) "e" -}}
{{- end -}}

{{/* A quantity as a number of units, for comparison. */}}
{{- define "streams-placement.amount" -}}
{{- $number := regexFind "^[0-9.]+([eE][-+]?[0-9]+)?" . -}}
{{- $units := dict "n" 1e-9 "u" 1e-6 "m" 1e-3 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "P" 1e15 "E" 1e18 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 "Pi" 1125899906842624 "Ei" 1152921504606846976 -}}
{{- mulf (float64 $number) (get $units (trimPrefix $number .) | default 1 | float64) -}}
{{- end -}}

{{/* Kinds of other operators that are reviewed, as the programs take them. */}}
{{- define "streams-placement.reviewedKinds" -}}
{{- $kinds := .Files.Get "kinds.yaml" | fromYaml -}}
{{- $reviewed := list -}}
{{- range .Values.workloads.kinds -}}
{{- $kind := get $kinds . | default dict -}}
{{- $reviewed = append $reviewed (printf "%s.%s" $kind.kind $kind.group) -}}
{{- end -}}
{{- join "," $reviewed -}}
{{- end -}}
