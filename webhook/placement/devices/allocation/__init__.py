"""The allocation of one node's devices to all claims of a pod: ``allocation`` is the search.

``node_devices`` are the pools that a node can use, ``candidates`` the devices for each request, ``consumption`` what is
taken of their capacities. ``presence`` asks for the devices of a node, whichever pod has them.
"""
