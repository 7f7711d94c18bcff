"""Which hosts a HostPool gets: pure functions that admission predicts with and the controller acts on.

``allocation`` chooses the hosts of a sized pool, ``host_list`` reads those of a literal one, ``pool_plan`` says what
the controller is to make true, and ``score`` what a node costs.
"""
