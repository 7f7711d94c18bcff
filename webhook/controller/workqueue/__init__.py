"""Work queue of reconcile keys (client-go, ``workqueue``): ``queue``, ``retries`` (back-off), ``workers``."""
