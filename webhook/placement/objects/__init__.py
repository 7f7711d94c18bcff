"""Objects of the cluster as values: what nodes, pods, HostPools, Jobs, HPAIntents and volumes state.

Readers of watches and snapshots make these values from the objects of the API. Read in this order:

- ``node``, ``pod``, ``pool``, ``job``: a node, pod, HostPool or Job, with only the fields that placement needs.
- ``pool_spec`` and ``pool_labels``: the spec of a HostPool, and the node labels that it requires.
- ``job_spec``, ``job_resources`` and ``job_model``: the spec of a Job, and what it means for all of its pods.
- ``intent`` and ``consumer``: HPAIntents. ``device_classes``: DeviceClasses. ``volumes``: claims and volumes.
- ``repelling``: required podAntiAffinity of pods. ``template_pods``: the pods of one template.
"""
