"""Plans as values: ``planned_manifests`` plans what a command is given, ``plan_document`` is the plan as JSON.

``operator_plan`` is the part of the document about operators and how they are fused.
"""
