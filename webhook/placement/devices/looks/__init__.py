"""Nodes whose devices look alike to the selectors at hand, so that one of them is tried for all.

``looks`` says what such nodes have in common, ``nodes_by_looks`` groups the nodes, ``followed_nodes`` keeps the groups
when devices change, and ``batches`` takes nodes that have not been looked at yet, all of them compared at once.
"""
