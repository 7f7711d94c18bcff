"""Benchmark of admission through a real API server: ``python -m bench.e2e``.

``cluster`` starts the control plane with the chart in it; ``peers`` and ``echo`` are what the webhook is compared with.
``clients`` create pods, in a process of their own, ``counters`` and ``usage`` read the counters of the servers
meanwhile, ``creations`` measures and reports, and ``__main__`` runs everything.

``bystanders``, ``bindings``, ``jobs`` and ``leaders`` are benchmarks of their own: what the chart costs objects that
ask for nothing, what its setting ``strict`` does, how fast Jobs are, and how long a cluster has no leader.
"""
