{{/* Whether another admission plugin has changed the pod since the webhook sealed it, and has not taken the seal away. The webhook computes the same (webhook/admission/seal.py): in how many places each of these characters stands, times its weight, summed up. */}}
{{- define "streams-placement.weights" -}}
{'a': 1, 'b': 32, 'c': 243, 'd': 1024, 'e': 3125, 'f': 7776, 'g': 16807, 'h': 32768, 'i': 59049, 'j': 100000, 'k': 161051, 'l': 248832, 'm': 371293, 'n': 537824, 'o': 759375, 'p': 1048576, 'q': 1419857, 'r': 1889568, 's': 2476099, 't': 3200000, 'u': 4084101, 'v': 5153632, 'w': 6436343, 'x': 7962624, 'y': 9765625, 'z': 11881376, '0': 14348907, '1': 17210368, '2': 20511149, '3': 24300000, '4': 28629151, '5': 33554432, '6': 39135393, '7': 45435424, '8': 52521875, '9': 60466176, 'A': 69343957, 'B': 79235168, 'C': 90224199, 'D': 102400000, 'E': 115856201, 'F': 130691232}
{{- end -}}

{{/* The keys of ours in that map that are sealed, with their values. */}}
{{- define "streams-placement.sealedKeys" -}}
object.metadata.?%[1]s.orValue({}).filter(k, k.startsWith('streams.ibm.com/') && !(k in ['streams.ibm.com/applicationName', 'streams.ibm.com/applicationScope', 'streams.ibm.com/contentId', 'streams.ibm.com/injected', 'streams.ibm.com/pe', 'streams.ibm.com/redisConfig', 'streams.ibm.com/seal', 'streams.ibm.com/waits'])).map(k, k + object.metadata.%[1]s[k]).join('')
{{- end -}}

{{/* What is sealed of a container. */}}
{{- define "streams-placement.sealedContainers" -}}
%s.map(c, c.name + '%%s'.format([c.?resources.orValue({})]) + c.?restartPolicy.orValue('') + c.?ports.orValue([]).filter(t, has(t.hostPort)).map(t, string(t.hostPort)).join('')).join('')
{{- end -}}

{{/* What is sealed of the pod, as one text: all that a decision reads of it. */}}
{{- define "streams-placement.sealed" -}}
{{- range $field := list "labels" "annotations" }}{{ printf (include "streams-placement.sealedKeys" $) $field }} + {{ end }}
{{- range $field := list "nodeSelector" "affinity" "tolerations" "schedulingGates" "topologySpreadConstraints" "overhead" "resources" }}{{ printf "'%%s'.format([object.spec.?%s.orValue({})])" $field }} + {{ end }}
{{- range $field := list "object.spec.?initContainers.orValue([])" "object.spec.containers" }}{{ printf (include "streams-placement.sealedContainers" $) $field }} + {{ end -}}
object.spec.?nodeName.orValue('')
{{- end -}}

{{- define "streams-placement.unsealed" -}}
![{{ include "streams-placement.sealed" . }}].exists(s, [{{ include "streams-placement.weights" . }}].exists(w, object.metadata.?labels[?'streams.ibm.com/seal'].orValue('') == string(w.map(c, (s.split(c).size() - 1) * w[c]).sum())))
{{- end -}}
