"""Where the REST interface keeps HPA intents: in a file, or as objects of a cluster.

Read in this order: ``store`` (the protocol of both), ``sqlite_store`` with ``disk_reserve`` (a file, and the space that
is kept for deleting), ``cluster_store`` with ``intent_objects`` (HPAIntent objects, and intents as such).
"""
