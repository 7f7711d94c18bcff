"""The measurements of ``python -m bench``: ``throughput``, ``latency`` and ``evaluation``.

``nodeloop`` is what ``evaluation`` compares with. ``goals`` and ``report`` compare the figures with the goals and write
them down.
"""
