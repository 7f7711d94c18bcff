"""The CustomResourceDefinitions of our kinds; ``python -m tools.crds`` writes them into the chart.

Read in this order: ``definitions`` (the objects as a whole); ``hostpool_schema``, ``hpaintent_schema``, ``job_schema``
and ``processingelement_schema`` (fields, CEL rules and printer columns); ``element_schema`` (what the last two share),
``condition_schema`` and ``selector_schema`` (parts of them); ``openapi``
(functions that write schemas).
"""
