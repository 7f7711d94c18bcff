{{/* Whether another admission plugin has changed the pod since the webhook sealed it, and has not taken the seal away. The webhook computes the same (webhook/admission/seal.py): in how many places each of these characters stands, times its weight, summed up. Written out, not as a loop: each step of an expression costs the API server about a microsecond. */}}
{{- define "streams-placement.weighed" -}}
{{- $all := 0 }}
{{- range $at, $letter := splitList "" "abcdefghijklmnopqrstuvwxyz0123456789ABCDEF" }}
{{- $number := add1 $at }}
{{- $weight := mul $number $number $number $number $number }}
{{- $all = add $all $weight }}s.split('{{ $letter }}').size() * {{ $weight }} + {{ end -}}
-{{ $all }}
{{- end -}}

{{/* The sealed labels and annotations of the product, with their values. Not as a list, which would print a line break as two characters. */}}
{{- define "streams-placement.sealedKeys" -}}
[object.metadata.?labels.orValue({}), object.metadata.?annotations.orValue({})].map(m, m.map(k, k.startsWith('streams.ibm.com/') && !(k in ['streams.ibm.com/applicationName', 'streams.ibm.com/applicationScope', 'streams.ibm.com/contentId', 'streams.ibm.com/injected', 'streams.ibm.com/pe', 'streams.ibm.com/redisConfig', 'streams.ibm.com/seal', 'streams.ibm.com/waits']), k + m[k]).join('')).join('')
{{- end -}}

{{/* The sealed fields of a container. */}}
{{- define "streams-placement.sealedContainers" -}}
dyn(%s.map(c, [dyn(c.name), ?c.?resources, ?c.?restartPolicy, ?c.?ports.optMap(l, l.map(t, has(t.hostPort), t.hostPort))]))
{{- end -}}

{{/* The sealed fields of the pod as one text: all fields that a decision reads. */}}
{{- define "streams-placement.sealed" -}}
'%s%s'.format([{{ include "streams-placement.sealedKeys" . }}, dyn([
{{- range $field := list "nodeName" "nodeSelector" "affinity" "tolerations" "schedulingGates" "topologySpreadConstraints" "overhead" "resources" "resourceClaims" }}{{ printf "?object.spec.?%s, " $field }}{{ end -}}
{{- printf (include "streams-placement.sealedContainers" .) "object.spec.?initContainers.orValue([])" }}, {{ printf (include "streams-placement.sealedContainers" .) "object.spec.containers" -}}
])])
{{- end -}}

{{- define "streams-placement.unsealed" -}}
![{{ include "streams-placement.sealed" . }}].exists(s, object.metadata.?labels[?'streams.ibm.com/seal'].orValue('') == string({{ include "streams-placement.weighed" . }}))
{{- end -}}
