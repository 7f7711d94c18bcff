"""What admission costs through a real API server: ``python -m bench.e2e``.

In reading order: ``variants`` says who is compared and ``pods`` what everybody creates. ``cluster`` starts the control
plane with the chart in it, ``peers`` and ``echo`` what it is compared to. ``orders``, ``client`` and ``load`` are the
clients, a process of their own; ``counters`` and ``usage`` look at the servers meanwhile; ``rounds`` takes turns, and
``observation`` is all of a run.
``figures``, ``goals``, ``facts`` and ``results`` say what that is worth, ``report`` writes it down.
``__main__`` puts it together.
"""
