"""The reconciler of ParallelRegions: makes one for each parallel region of a Job of operators, and says how it does.

Read in this order: ``reconciler`` (one pass over the regions of one Job), ``region_plan`` (which objects are to be
created, changed and deleted, and what their statuses say; pure), ``region_triggers`` (which changes queue which Jobs).
Jobs are fused with the widths by their own reconciler.
"""
