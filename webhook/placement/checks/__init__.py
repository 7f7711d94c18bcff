"""Checks beside the decision about a new pod: finished pods, bindings, changes of nodes, and the hosts of pools.

``verification`` (does a finished pod still say what its clauses require), ``binding``, ``node_change``, ``completion``
with ``eligibility`` (could a pool have all of its hosts), ``pool_health`` (what is wrong with those it has),
``sleepers`` (pods that wait and may come to a host that becomes exclusive).
"""
