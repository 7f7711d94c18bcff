"""Defaults that the API server adds to a pod before webhooks review it (``docs/pod-defaults.md``).

A pod arrives at the webhook with these additions. The template of a workload does not have them, so a verdict about the
workload has to add them first.

Read in this order:

- ``limit_range``: defaults of a namespace's LimitRanges. ``limit_bounds``: their minima, maxima and ratios.
- ``runtime_class``: overhead, node labels and tolerations of a RuntimeClass. ``priority_class``: priorities.
- ``completed_pod``: a pod with everything added. ``pod_defaults``: the objects of a cluster that additions come from.
"""
