"""Leader election by a Lease of coordination.k8s.io/v1: only its holder acts (client-go, ``leaderelection``).

In reading order:

- ``lease_timing``: how long a Lease lasts, and how often it is renewed.
- ``lease``: a Lease as it is read and written. Pure.
- ``lease_hold``: one process's hold on a Lease: taken, renewed, given back.
- ``lease_watch``: tells a candidate at once that the Lease was written.
- ``election``: wait for the Lease, run a coroutine while it is held, give it back.
"""
