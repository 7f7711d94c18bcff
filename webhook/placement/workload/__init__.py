"""Many pods of one template: whether all pods of a workload can run at the same time (``docs/workloads.md``).

Read ``workload`` first: it has the entrance, ``decide_replicas``. ``replica_refusal`` writes the refusal of a workload
for which there is too little room. ``ranking`` lists the nodes for a pod, cheapest first, and how replicas would share
them.
"""
