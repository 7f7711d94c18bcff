"""Many pods of several templates judged as a whole: whether all can run at the same time, where, and if not, why not.

Read in this order: ``members`` (what pods demand of nodes and of each other), ``group`` (the entrance: all members at
once), ``assignment`` (the abstract problem), ``bounds``, ``greedy`` and ``integer_program`` (three ways to solve it),
``solver`` (these in turn), ``conflict`` (a smallest set of what cannot hold together), ``group_refusal`` (its text and
the nearest fix). ``acceptance`` finds how much of a list fits, ``optional_hardware`` who gets hardware that is not
mandatory, ``pinned`` is about pods that run already. See ``docs/jobs.md``.
"""
