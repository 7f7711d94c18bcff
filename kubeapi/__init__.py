"""Client of the Kubernetes API server, and leader election by a Lease, for all programs of this repository.

In reading order:

- ``client``: the address of the API server and credentials for it, one connection, single requests over it.
- ``leaderelection``: a process waits for a Lease, and works while it holds the Lease.
- ``clock``: monotonic seconds for durations, and the present time as Kubernetes writes it.

``webhook`` (the controller, watches, queries) and ``certs`` (``streams-placement-certs manage``) import this package;
it imports neither of them.
"""
