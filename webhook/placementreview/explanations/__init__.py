"""Verdicts on objects as values, to be shown or printed as JSON: ``explanation`` (one pod), and one file for each kind.

``job_explanation``, ``pool_explanation``, ``region_explanation`` and ``application_explanation`` are those of a Job, a
HostPool, a ParallelRegion, and an application of another operator.
"""
