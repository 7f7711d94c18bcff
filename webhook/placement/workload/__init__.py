"""Many pods of one template: whether all of a workload's pods can run at a time (``docs/workloads.md``).

``workload`` is the entrance; ``crowding`` writes the refusal; ``ranking`` lists the nodes, cheapest first, and how
replicas would share them.
"""
