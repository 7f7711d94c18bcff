"""The reconciler of HostPool objects: chooses hosts, marks their nodes, checks them, and publishes them in the status.

Read in this order: ``reconciler`` (one pass over one pool), ``host_choice`` (which hosts), ``claims`` and ``marks``
(labels and taints of nodes), ``strangers`` (foreign pods on a host, asked of the API server), ``pool_status``,
``pool_reports`` and ``status_cache`` (what is written about a pool), ``pool_object`` (the object as stored). Changes
come through ``observed_inventory`` and ``node_cache``; ``triggers`` turns them into keys of queues, and ``orphans``
removes marks of pools that do not exist. ``webhook.controller.work`` connects all of it.
"""
