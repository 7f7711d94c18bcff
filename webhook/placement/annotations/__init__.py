"""Everything that is read from the values of a pod's annotations, each annotation by itself.

- ``placement_text``: ``streams.ibm.com/placement`` and ``preferred``.
- ``worker_mapping``, with ``expressions``, ``expression_text`` and ``mapping_conflicts``: worker mapping.
- ``hardware_text``, with ``hardware``, ``hardware_fields`` and ``hardware_amount``: hardware requirements.
- ``pod_selection``: ``run-with`` and ``run-apart-from``.
- ``yaml_text``: values written in YAML or JSON. ``stray_keys``: keys that were probably meant to be ours.
"""
