"""The controller: makes HostPools true, in one process at a time.

Read in this order:

- ``program``: one candidate of the election, with caches that it always keeps; ``work``: what only the leader does.
- ``workqueue``: keys of objects to reconcile, in fair turns, with retries.
- ``concurrency``: coroutines that end together.
- ``hostpools``: the reconciler of a HostPool and all that it needs.
- ``events``: Events of events.k8s.io/v1; ``waiting_pods``: Events of pods that wait.
- ``release``: hosts given back by command; ``candidates``: the controllers that run as pods, and their end.
- ``metrics``: the figures of the controller.

The election is ``kubeapi.leaderelection``.
"""
