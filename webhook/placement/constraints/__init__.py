"""The constraint families, one file each: what a pod can ask of its node, and what Kubernetes must be told for that.

Read ``constraint`` first (the interface of all families), then ``families`` (their list, in the order of judgement) and
any family: in ``hosts`` (what the node is), ``pods`` (which pods are beside the new one) or ``hardware`` (what the node
has). Shared by several: ``company`` (what a constraint demands of other pods), ``shared_room`` (room beside other
pods), ``topology_limit`` (pods in each domain of a topology key). Families do not import one another.
"""
