"""Jobs of Streams as values: what a Job and a ParallelRegion state, and what that means for all pods of a Job.

- ``job``: a Job with only the fields that placement needs. ``job_model``: what it means for all of its pods.
- ``job_spec``, ``job_operators`` and ``job_resources``: the spec of a Job. ``job_fusion``: how its operators are fused.
- ``parallel_region``: a ParallelRegion, which gives a region of a Job another width.
"""
