"""Questions for the API server: those that answers to reviews depend on, and the state of a Job or another object.

``review_queries`` asks them for a review. ``authorization`` (may the user use a HostPool?), ``unknown_pods``
(what is this pod?), ``workload_sizes`` (how many pods is a workload to have?), ``job_workloads`` (which workloads has a
job?), ``pod_owners`` (is a pod of an application that was judged?) and ``streams_jobs`` (what does a Job say?) each
know one kind of question. ``job_view`` reads a Job with all that belongs to it, for the command ``status``.
"""
