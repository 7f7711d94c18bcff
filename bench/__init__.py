"""Benchmark of the webhook as one process: ``python -m bench``. Its figures are ratios within one run.

``generated`` is the cluster and the reviews, ``servers`` are the processes that are measured and the client that asks
them, ``reviews`` measures and reports, and ``__main__`` runs everything. ``memory`` and ``machine`` serve all
benchmarks; each other file is a benchmark of its own.
"""
