"""The decision about a pod: whether it can run, on which nodes, and what is added to it. Start at ``decision.decide``.

Read ``decision`` first, then ``verdict`` (the nodes that meet every constraint) and ``merge`` (effects of constraints
into the ``Additions`` of a pod). ``refusal`` says why a pod cannot run. ``replica_fit`` and ``whole_group`` count pods
of one template, ``optional_hardware`` adds hardware that is free, ``tolerated_hosts`` refuses ways round exclusive
hosts, ``wait`` says what an admitted pod waits for, ``scale_up`` which node groups would make a node for it.
"""
