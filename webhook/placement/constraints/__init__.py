"""The constraint families, one file each: what a pod can ask of its node, and what Kubernetes must be told for that.

Read ``constraint`` first (the interface of all families), then ``families`` (their list, in the order of judgement) and
any family. Two families share ``node_label`` (conditions on one label). Shared by several files: ``pod_terms`` (terms
about pods of the same job), ``shared_room`` (room beside other pods), ``topology_limit`` (pods in each domain of a
topology key), ``affinity_terms`` (validation of the pod's own node affinity). Families do not import one another.
"""
