"""Clusters and manifests read from files of YAML or JSON.

Read in this order: ``follow`` (``SnapshotCluster``: a folder that is read again when its files change), ``snapshot``
(reads a folder once), ``folder`` (finds and reads its files), ``loader`` (puts their objects into a sink),
``yaml_documents`` (YAML to Python values), ``json_documents`` (several texts of JSON in one file). ``manifests`` reads
files that a user names, for the command line.
"""
