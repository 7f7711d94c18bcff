"""Apps over several clusters: which clusters can take each app, as compact lists (``docs/clusters.md``).

Read ``application`` (what an app is), ``examination`` (one cluster and all apps), ``sharing`` (apps in contention get
lists that fit together), ``answer`` (the lists), ``shortage`` (why an app is refused).
"""
