"""The CustomResourceDefinitions of HostPool and HPAIntent; ``python -m tools.crds`` writes them into the chart.

Read in this order: ``definitions`` (both objects as a whole), ``hostpool_schema`` and ``hpaintent_schema`` (fields, CEL
rules and printer columns), ``selector_schema`` and ``hostpool_patterns`` (parts of the first), ``openapi`` (functions
that write schemas).
"""
