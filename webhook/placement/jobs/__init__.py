"""Jobs of Streams as a whole: what can be wrong with one, the pods of its processing elements, and their life.

Read in this order: ``problems`` with ``option_problems`` (what a spec may say) and ``named_pools`` (HostPools that it
names); ``lifecycle`` (the state machine of a processing element) with ``element_pod``, ``element_status`` and
``restart_policy``; ``pe_pod`` (the pod of a processing element) with ``pod_template``, ``pe_environment`` and
``pe_volumes``; ``element_order`` and ``content`` (which elements come first, and which changes replace a pod);
``job_progress`` (the phase of a Job); ``names`` (names of pods, references to owners); ``whole_job`` and
``job_workloads`` (whether all of a Job, or all workloads of one job, can run at a time); ``planned_nodes`` (the plan of
a Job), ``steered_pod`` (a pod as it is planned) and ``replanning`` (the plan for elements that are launched again).
"""
