"""Devices of dynamic resource allocation: what drivers publish, what claims request and hold, and which nodes have it.

Kubernetes describes devices by objects of ``resource.k8s.io`` (``docs/devices.md``). ``fits`` is the entrance: the
nodes that have devices for the claims of a pod. Below it are ``looks`` (nodes whose devices look alike), ``allocation``
(the search on one node), ``selectors`` (CEL) and ``published`` (the objects of a cluster, in indexes): read
``published`` first.
"""
