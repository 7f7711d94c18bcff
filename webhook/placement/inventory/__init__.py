"""The cluster as decisions see it: nodes, live pods, host pools, jobs and intents, kept in indexes.

Read in this order: ``objects`` (one value per object), ``inventory`` (all of them, updated one object at a time),
``index`` (label, taint and address to a set of nodes), ``capacity`` (what each node offers and has given away),
``pool_index`` with ``pool_spec``, ``pool_labels``, ``pool_marks`` and ``quota``, ``job_pods``, ``foreign_pods`` and
``peers`` (pods by job, by no job, by template), ``guests``, ``topology``, ``conditions``, ``jobmodel``, ``intent``,
``promises`` and ``policy``.
"""
