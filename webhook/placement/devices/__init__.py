"""Devices of dynamic resource allocation: what drivers publish, what claims request and hold, and which nodes have it.

Kubernetes describes devices by objects of ``resource.k8s.io`` (``docs/hardware.md``). Read in this order:

- ``device``: a device with its attributes and capacity, and ``slices``: the part of a pool that one object publishes.
- ``claims``: what a claim requests, and what is allocated to it; ``described``: claims of devices that requirements
  describe. ``taint_rules``: taints that a person puts on devices.
- ``devices``: all of these objects of a cluster, in indexes, with ``changes``: the nodes that have other devices now.
- ``selector``: CEL expressions, with ``expression`` (what one reads) and ``ordered_values`` (quantities and versions).
- ``node_devices``: the pools that a node can use, and ``followed_nodes``: nodes whose devices may have changed.
  ``candidates`` and ``consumption``: devices for each request.
- ``allocation``: the search for devices on one node, and ``presence``: its devices, whichever pod has them. ``fits``:
  the nodes with devices. ``marks``, ``looks`` and ``nodes_by_looks``: nodes whose devices look alike;
  ``mark_table`` and ``batches``: all of them compared at once.
"""
