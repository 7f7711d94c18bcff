"""The reconciler of ProcessingElements: one pod each, and another launch after an end, a change, or a request.

Read in this order: ``reconciler`` (one pass over one element), ``stored_status`` (the status as JSON), ``pod_hold``
(why no pod may be created now), ``element_reports`` (status writes and Events), ``element_triggers`` (which changes
queue which elements). What is decided is in ``webhook.placement.elements.lifecycle``.
"""
