"""Kinds of objects kept up to date by list and watch, as client-go does it.

Read in this order: ``list_watch`` (requests for pages and events), ``store`` (the objects of a kind), ``reflector``
(list, watch, and again after a failure), ``backoff`` (every time constant), ``live`` (all kinds of a cluster).
``lists`` reads a list without a watch.
"""
