"""Families that say which nodes a pod may use by the pods beside it: together, apart, alone, spread.

``pod_terms`` makes the terms that several of them add about pods of the same job.
"""
