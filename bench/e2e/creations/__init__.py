"""The measurement of ``python -m bench.e2e``: ``rounds`` runs the variants in turns, ``observation`` the whole of it.

``figures``, ``goals``, ``facts`` and ``results`` compute the results, and ``report`` writes them down.
"""
