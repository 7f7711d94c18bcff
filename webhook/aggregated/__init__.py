"""The aggregated API: PlacementReviews on a port of their own, which the API server calls for its users.

Read ``review_server`` first, which listens; then ``review_api``, who asks and for what, and ``review_creation``, the
way of a review to its answer. ``front_proxy`` says who may speak for users, and ``front_proxy_watch`` follows what the
cluster says of that. ``review_rights`` asks what a user may do and see, ``turns`` is the order of reviews that wait, at
the ``review_pace`` that admission can bear, and ``review_process`` answers one of them in a process of its own, which a
``review_template`` starts, and whose work ``review_answer`` is. ``discovery`` and ``openapi`` are the documents about
the API, ``fields`` what its fields mean.
"""
