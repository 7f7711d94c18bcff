"""HostPools made true: hosts are chosen, marked on their nodes, looked at once more, and published in the status.

``reconciler`` is the entrance, called with the key of a pool; ``work`` connects it to queues and watches.
"""
