"""Benchmark of admission through a real API server: ``python -m bench.e2e``.

In reading order: ``variants`` lists what is compared, and ``pods`` makes the pods that are created in each variant.
``cluster`` starts the control plane with the chart in it; ``peers`` and ``echo`` are what the webhook is compared
with. ``orders``, ``client`` and ``load`` are the clients, a process of their own. ``counters`` and ``usage`` read the
counters of the servers meanwhile. ``rounds`` runs the variants in turns, and ``observation`` holds the whole run.
``figures``, ``goals``, ``facts`` and ``results`` compute the results, and ``report`` writes them down. ``__main__``
runs everything.

``bystanders`` and ``bindings`` are benchmarks of their own: what the chart costs objects that
ask for nothing, and what its setting ``strict`` does.
"""
