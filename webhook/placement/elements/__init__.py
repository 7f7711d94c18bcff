"""Processing elements of a Job: the pod of each one, its life, and what its Job's plan says of it.

Read in this order: ``lifecycle`` (the state machine of a processing element) with ``element_pod``, ``element_status``
and ``restart_policy``; ``pod_manifest`` (the pod of a processing element) with ``pod_template``, ``environment``,
``mounted_volumes`` and ``names``; ``element_order`` and ``content`` (which elements come first, and which changes
replace a pod); ``plan`` (the plan of a Job) and ``steered_pod`` (a pod as it is planned); ``option_problems`` and
``template_fields`` (what is wrong with options and templates).
"""
