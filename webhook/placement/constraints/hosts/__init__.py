"""Families that say which nodes a pod may use by what the node is: its name, pool, labels, taints and volumes.

Two families share ``node_label`` (conditions on one label). ``affinity_terms`` validates the pod's own node affinity.
"""
