"""Jobs of Streams as a whole: what can be wrong with one, whether all of it can run, its plan, and its phase.

Read in this order: ``problems`` (what a spec may say) and ``named_pools`` (HostPools that it names); ``whole_job`` and
``job_workloads`` (whether all of a Job, or all workloads of one job, can run together) with ``declared_pools`` and
``tolerant_elements``; ``planned_nodes`` (the plan of a Job) and ``replanning`` (the plan for elements that are launched
again); ``job_progress`` (the phase of a Job). Jobs of operators: ``fused_job``, ``fusion_search``, ``fusion_bound`` and
``fusion_refusal``; ``region_widths`` and ``scaling`` are about parallel regions that get other widths.
"""
