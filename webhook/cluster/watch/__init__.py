"""Objects of a live cluster, kept up to date by list and watch as in client-go.

Read in this order: ``live`` (``LiveCluster``: one reflector for each kind), ``reflector`` (lists, then watches, for
ever), ``list_watch`` (the requests for one kind), ``store`` (which objects are known), ``backoff`` (time constants, and
the pauses after failures). ``lists`` reads a collection once, for decisions that must not rely on what was watched.
"""
