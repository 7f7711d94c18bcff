"""What Jobs and ProcessingElements of Streams become, and when (``docs/jobs.md``): decisions without a cluster.

Read in this order: ``lifecycle`` (the state machine of a processing element) with ``element_pod``, ``element_status`` and
``restart_policy``; ``pe_pod`` (the pod of a processing element) with ``pe_environment`` and ``pe_volumes``;
``element_order`` and ``content`` (which elements come first, and which changes replace a pod); ``job_progress`` (the
phase of a Job); ``names`` (names of the objects that a Job owns).
"""
