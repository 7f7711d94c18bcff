"""The generated cluster of the benchmarks, and reviews of its pods.

``topology``, ``nodes``, ``pods`` and ``streams`` say what is in the cluster, ``generator`` writes it to files or
into an inventory, and ``bodies`` makes the reviews.
"""
