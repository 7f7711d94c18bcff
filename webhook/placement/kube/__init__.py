"""The vocabulary of Kubernetes that decisions read: pods, requests, quantities, selectors, sets of nodes.

Read in this order: ``pod`` (the fields of a Pod that placement reads), ``containers``, ``quantity`` and ``requests``
(what a pod asks of a node, counted as the scheduler counts it), ``resource_name``, ``owner``, ``addresses``; then
``bits`` (a set of nodes as one integer), ``selector`` with ``selector_text`` and ``numbers``, and ``nodeterms``
(required node affinity).
"""
