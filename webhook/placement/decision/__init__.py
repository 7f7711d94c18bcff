"""Whether a pod can run, on which nodes, and what must be added to it: ``decision.decide`` is the entrance.

Read ``decision`` first, then ``verdict`` (the nodes that meet every constraint) and ``merge`` (effects of constraints
into the ``Additions`` of a pod). ``pod_refusal`` refuses a pod, from ``clause_nodes`` (the nodes that meet each
clause), ``conflict`` (searches for a smallest set that fails, of groups as well), ``relaxation`` (the pod decided anew
without some clauses) and ``cluster_change`` (whether a change of the cluster would help); ``refusal`` writes the text.
``replica_fit`` and ``whole_group`` count pods of one template, ``optional_hardware`` adds hardware that is free,
``tolerated_hosts`` refuses ways round exclusive hosts, ``wait`` says what an admitted pod waits for.
"""
