"""The refusal of a pod: the smallest set of clauses, the reasons of all nodes, and the nearest fix.

``pod_refusal`` refuses a pod, from ``clause_nodes`` (the nodes that meet each clause), ``conflict`` (searches for a
smallest set that fails, of groups as well), ``relaxation`` and ``partial_pod`` (the pod judged anew without some
clauses), ``cluster_change`` (whether a change of the cluster would help), ``lowered_requests`` (the largest requests
that would fit) and ``lowered_zones`` (those that a kubelet can align); ``refusal`` writes the text.
"""
