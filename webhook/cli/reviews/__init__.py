"""PlacementReviews at the command line: ``explain --server``, and ``explain`` with changes that count as made.

``what_if_flags`` are the flags of these changes, ``review_explanation`` is what is written of an answer, and
``reviewed_manifests`` asks and shows it.
"""
