"""Benchmark of the webhook as one process: ``python -m bench``. Its figures are ratios within one run.

In reading order: ``topology``, ``nodes``, ``pods`` and ``streams`` say what is in the generated cluster,
``generator`` writes it to files or into an inventory, and ``bodies`` makes the reviews. ``echo`` is the server
without any logic that the webhook is compared with; ``processes`` runs both. ``throughput``, ``latency``, ``memory``
and ``evaluation`` measure (``nodeloop`` is what the latter compares with). ``goals`` and ``report`` compare the
figures with the goals and write them down. ``__main__`` runs everything.
"""
