"""Parsers and writers of two grammars of SPL, the language of Streams: placement clauses and host pools.

Read in this order:

- ``clauses``: placement clauses as values. ``placement``: the grammar of ``host("a"), hostExlocation("t")``.
- ``host_pools``: the grammar of ``config hostPool`` declarations, and these declarations as values.
- ``reader``, ``tokens`` and ``literals``: what both grammars share, from errors and recovery down to quoted strings.
"""
