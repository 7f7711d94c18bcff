"""Reads SPL programs into Streams applications.

Read in this order:

- ``scanner``: tokens and brackets of a text. ``program``: its composites, invocations and configs.
- ``values``: what expressions are. ``clauses``: placement and host pools of configs, with these values.
- ``library``: the composites of several texts by their names. ``toolkits``: operators of public toolkits.
- ``expansion``: the operators that composites expand to. ``accounts``: what became of every host clause.
- ``reading``: the applications of texts that belong together.
"""
