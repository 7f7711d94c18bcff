"""Questions that answers to reviews depend on, asked of the API server.

``review_queries`` asks them for a review; ``authorization`` (may the user use a HostPool?), ``unknown_pods``
(what is this pod?) and ``workload_sizes`` (how many pods is a workload to have?) each know one kind of question.
"""
