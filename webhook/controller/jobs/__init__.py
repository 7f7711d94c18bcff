"""The reconciler of Jobs: creates their HostPools and ProcessingElements, changes and removes them, and counts them.

Read in this order: ``reconciler`` (one pass over one Job), ``job_plan`` (which objects are to be created, changed and
deleted; pure), ``owned_objects`` (the requests that do it), ``stored_job_status`` (the status as JSON), ``job_reports``
(status writes and Events), ``job_triggers`` (which changes queue which Jobs). ``launch_plans`` plans elements that are
launched again, ``planned_launches`` remembers what was planned, ``element_standing`` tells which elements wait.
``scaled_regions`` knows the widths of parallel regions.
"""
