"""Questions for the API server: those that answers to reviews depend on, and the state of a Job or another object.

``review_queries`` asks them for a review, by ``review_lookups`` and the folder ``lookups``, a kind of question in each
file. ``job_verdicts`` judges whole Jobs meanwhile. ``job_view`` reads a Job with all that belongs to it, for the
command ``status``, ``object_facts`` any object, for ``why``, and ``cluster_profiles`` the clusters of a fleet.
"""
