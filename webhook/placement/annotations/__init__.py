"""Readers of a pod's annotations: the text of an annotation becomes values, all problems and warnings.

Read in this order:

- ``placement_text``: the annotations ``placement`` and ``preferred``.
- ``worker_mapping``: the annotations of worker mapping, with ``expression_text`` and ``expressions`` (node
  expressions), ``pod_selection`` (``run-with`` and ``run-apart-from``) and ``mapping_conflicts`` (contradictions).
- ``hardware_text``: hardware requirements, with ``hardware`` (one requirement as a value), ``hardware_fields`` and
  ``hardware_amount``.
- ``yaml_text``: YAML and JSON in annotations.
- ``stray_keys``: warnings about misspelt keys of annotations and labels.
"""
