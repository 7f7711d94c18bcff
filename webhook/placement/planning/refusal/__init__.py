"""Why no nodes can take a group of pods: the smallest set of clauses and the nearest change."""
