"""Checks beside the decision about a new pod: finished pods, waiting pods, changes of nodes, and hosts of HostPools.

Each file is one check and can be read alone: ``verification`` (whether a finished pod still has what its clauses
require), ``unbound_pods`` (to which nodes a pod without a node may be bound, and which pods are sleepers),
``node_change`` (what a change of a node breaks), ``completion`` (whether a pool could have all of its hosts, with
``eligibility``: why nodes cannot be hosts), ``pool_health`` (what is wrong with the hosts that a pool has).
"""
