"""Node groups: what an autoscaler could add to the cluster, and whether such a node could run a pod.

In reading order:

- ``label_values``: the values that a label of a new node may have. ``node_group``: a group as a value.
- ``node_pool`` and ``node_claim`` (Karpenter), ``machine_group`` (Cluster API), ``node_shapes`` (the values of the
  chart): how each is read.
- ``new_node``: the node that a group would make for a pod. ``possible_nodes``: those for pods of several kinds.
- ``group_reasons``: how messages name groups, and say why they make no node.
- ``node_groups``: all groups of the cluster.
"""
