"""The controller: reconciles HostPool objects with the labels and taints of nodes, in one elected process at a time.

Read in this order: ``program`` (one candidate: caches, election, work), ``work`` (what the leader does),
``leaderelection`` (the Lease), ``workqueue`` (keys, workers, retries), ``hostpools`` (the reconciler and all that it
uses), ``events`` (Events for people), ``waiting_pods`` (Events about admitted pods that no node can run), ``release``
(the command that frees hosts without a controller), ``metrics``, ``clock`` and ``concurrency``.
"""
