"""Questions for the API server, a kind of question in each file, with what is kept of their answers.

Such as ``authorization`` (may the user use a HostPool?), ``unknown_pods`` (what is this pod?), ``workload_sizes`` (how
many pods is a workload to have?), ``job_workloads`` (which workloads has a job?), ``pod_owners`` (is a pod of an
application that was judged?) and ``streams_jobs`` (what does a Job say?).
"""
