"""Admission: an AdmissionReview in, an AdmissionReview out. Pure, like the core below it.

Read in this order: ``review`` (the request, read once), ``answer`` (the answer, and the question that it may carry),
``responses`` (the answer as JSON); ``mutate`` (``/mutate``: new pods, ``patch``) and ``validate`` (``/validate`` and
``/guard``: the table of checks). The kinds that are checked: ``pods`` (with Bindings), ``workloads``, ``applications``,
``nodes``, ``custom_resources``, ``daemon_sets``, ``jobs``, ``parallel_regions``. ``conversion`` (``/convert``) is about
versions of kinds.

Shared by these: ``opt_in`` (which pods are judged), ``application_pods`` (the question whether a pod is of an
application), ``pool_use`` (the right to use HostPools), ``templates`` (the pods that an object describes), ``replicas``
(how many of them), ``job_workloads`` (the question about the other workloads of a job), ``unstructured`` (an object of
any kind).
"""
