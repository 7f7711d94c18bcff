"""Pods, resource requests, selectors and sets of nodes, with the meaning that Kubernetes gives them.

Read in this order:

- ``pod``: the fields of a Pod that placement reads. ``size_limits``: how much of each a pod may have.
- ``containers``: containers by name and by their place in the spec. ``owner``: the workload that a pod belongs to.
- ``quantity``, ``resource_name`` and ``requests``: amounts, names of resources, and the requests of a whole pod.
- ``names``: names of objects, namespaces and labels. ``addresses``: IP addresses. ``timestamps``: RFC 3339.
- ``bits``: a set of nodes as one integer.
- ``selector``, with ``selector_text`` and ``numbers``: label selectors, evaluated on nodes.
- ``tolerations``: taints of nodes, those that go away by themselves, and which tolerations cover them.
- ``node_terms``: how the terms of constraints are ANDed with the pod's own required node affinity.
"""
