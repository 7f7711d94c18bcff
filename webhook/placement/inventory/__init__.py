"""The state of the cluster that decisions are made from: nodes, pods, host pools, jobs and intents, in indexes.

Read in this order:

- ``objects``: a node, pod, HostPool or Job as a value. ``inventory``: all of them, updated one object at a time.
- ``index``: nodes by label, taint and address, with ``capacity`` (resources of each node) and ``topology``
  (topology domains).
- ``pool_index``: HostPools, with ``pool_spec`` (validation), ``pool_labels`` and ``quota``.
- ``job_pods``, ``foreign_pods`` and ``guests``: running pods of a job, of no job, and such as tolerate exclusive hosts.
- ``job_model``: a Job object's model. ``intent``: HPAIntents. ``template_pods``: the pods of one template.
- ``assumed_pods``: pods that were bound a moment ago. ``policy``: the settings that change decisions.
"""
