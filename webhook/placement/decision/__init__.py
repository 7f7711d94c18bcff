"""Can a pod run, where, and what must be added to it: the entrance of the decision core is ``decision.decide``.

``verdict`` intersects what all constraint families allow; ``merge`` turns their effects into ``additions``. A refusal
is made by ``conflict`` (a smallest set that cannot hold), ``relaxation`` and ``word_nodes`` (the pod without some of
its words), ``changes`` and ``remedy`` (the nearest fix), and written by ``refusal``. ``crowd`` and ``whole_group``
count pods of one template, ``wishes`` adds what is only wanted, ``trespass`` finds ways round exclusive hosts, ``wait``
says why a pod is let in that no node can run now.
"""
