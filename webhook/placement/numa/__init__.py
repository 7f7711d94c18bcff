"""NUMA zones of nodes, and whether a kubelet's topology manager can align a pod with them (``docs/numa.md``).

Read in this order:

- ``topology``: the zones of a node with its kubelet's policy. ``topologies``: those of all nodes.
- ``needs``: what kubelets align for the containers of a pod.
- ``alignment``: the masks of zones that meet the needs, as the kubelet's hint providers and its policies choose them.
- ``lowered_needs``: the largest amounts that zones have.
"""
