"""The choice of hosts for a HostPool: admission predicts with these functions, and the controller acts on them.

Read in this order:

- ``allocation``: the hosts of a pool; which nodes are eligible, which pods are strangers, and which use the pool.
- ``host_devices``: the nodes that have the devices of a pool.
- ``host_list``: the entries of a literal pool's ``spec.hosts``, as nodes.
- ``score``: the cost of a node, by which the choice prefers nodes.
- ``pool_plan``: the hosts and marks that the controller is to make true.
"""
