"""The search for an assignment of a group's pods to nodes: exact, greedy and bounded, over arrays alone."""
