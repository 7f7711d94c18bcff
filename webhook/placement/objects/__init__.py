"""Objects of the cluster as values: what nodes, pods, HostPools, Jobs, HPAIntents and volumes state.

Readers of watches and snapshots make these values from the objects of the API. Read in this order:

- ``node``, ``pod``, ``pool``: a node, pod or HostPool, with only the fields that placement needs. ``jobs``: Jobs.
- ``pool_spec`` and ``pool_labels``: the spec of a HostPool, and the node labels that it requires.
- ``intent`` and ``consumer``: HPAIntents. ``device_classes``: DeviceClasses. ``volumes``: claims and volumes.
- ``repelling``: required podAntiAffinity of pods. ``template_pods``: the pods of one template.
"""
