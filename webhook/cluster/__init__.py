"""Where the state of the cluster comes from: the API server, or files.

Read in this order:

- ``crds``: our CustomResourceDefinitions.
- ``objects``: objects as the API server writes them, and as the values that placement knows.
- ``snapshot``: a cluster read from a folder of YAML and JSON, and read again when the files change.
- ``watch``: a cluster kept up to date by list and watch.
- ``queries``: questions that a review asks the API server before it answers.

Requests are sent by ``kubeapi.client``, which the certificates' program uses, too.
"""
