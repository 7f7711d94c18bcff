"""The refusal of a group of pods: the smallest set of clauses and the nearest change."""
