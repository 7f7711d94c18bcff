"""Families that say which nodes a pod may use by what the node has: amounts, devices, cores and NUMA zones."""
