"""What is done to the cluster, by one process at a time: elected, told of changes, trying until it is so.

In reading order: ``terms``, ``lease``, ``tenure`` and ``election`` decide who may act; ``watched`` tells what changed,
``queue`` and ``workers`` see to it, ``retries`` says when again; ``events`` tells people. Reconcilers build on these.
"""
