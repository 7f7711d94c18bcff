"""Nodes that node groups could make for a Job, an application or a workload that the nodes there are cannot run.

The same search is asked again, with new nodes of all groups beside those there are (``docs/autoscaled.md``, "Whole
Jobs"). Only what would be refused is looked at, and only with ``scaleUp: auto``.

``scaled_job`` judges whole Jobs and ``scaled_pods`` all else. ``search`` is the search, for the members of a
``scaled_group``, over ``useful_nodes``. ``made_nodes`` says which of these it used, ``helpless_groups`` why none helps,
and ``job_scale_up`` is the answer.
"""
