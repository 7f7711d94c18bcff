"""The state of the cluster that decisions are made from: nodes, pods, host pools, jobs and intents, in indexes.

Read in this order:

- ``inventory``: all objects of a cluster, updated one object at a time.
- ``index``: nodes by label, taint and address, with ``capacity`` (resources of each node), ``priorities`` (what
  preemption frees), ``taken_host_ports`` and ``topology`` (topology domains).
- ``pool_index``: HostPools, with ``quota`` and ``exclusive_taint``.
- ``job_pods``, ``foreign_pods`` and ``guests``: running pods of a job, of no job, and such as tolerate exclusive hosts.
- ``assumed_pods``: pods that were bound a moment ago. ``policy``: the settings that change decisions.
"""
