"""How the programs of this repository speak to a Kubernetes API server.

In reading order:

- ``client``: the address of the API server and credentials for it, one connection, single requests over it.
- ``leaderelection``: one process acts at a time, the holder of a Lease.
- ``clock``: seconds to measure with, and moments as Kubernetes writes them.

``webhook`` (the controller, watches, queries) and ``certs`` (``streams-placement-certs manage``) import this package;
it imports neither of them.
"""
