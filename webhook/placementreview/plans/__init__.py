"""Plans as values: ``plan`` plans everything that manifests describe, ``plan_document`` makes the plan a ``document``.

``operator_plan`` is the part of the document about operators and how they are fused, ``fuse`` fuses them first, and
``plan_scale_up`` says what node groups can make for a Job that does not fit. ``natural_order`` sorts names.
"""
