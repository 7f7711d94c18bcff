"""The controller: reconciles HostPool objects with the labels and taints of nodes, in one elected process at a time.

Read in this order:

- ``program``: one candidate of the election, with caches that it always keeps; ``work``: what only the leader does.
- ``workqueue``: keys of objects to reconcile, in fair turns, with retries.
- ``concurrency``: coroutines that end together; ``turn``: who judges and promises, one at a time.
- ``reconciler_settings``, ``object_editor``, ``conditions``: shared by all reconcilers: their settings, the requests by
  which they change objects, and how conditions are merged into a status.
- ``hostpools``: the reconciler of a HostPool and all that it needs.
- ``claimtemplates``: the reconciler of ResourceClaimTemplates of devices that requirements describe.
- ``jobs``, ``parallelregions``, ``processingelements``: the reconcilers of Jobs, and of what is made for them.
- ``events``: Events of events.k8s.io/v1; ``waiting_pods``: Events about admitted pods that no node can run.
- ``release``: the command that frees hosts without a controller.
- ``controller_pods``: the pods of the controller's Deployment: which run, and how ``release`` ends them.

The election is ``kubeapi.leaderelection``.
"""
