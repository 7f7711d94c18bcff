"""Where the state of a cluster comes from, and how the API server is asked and written to.

- ``client``: configuration, credentials, one connection, and single requests over it.
- ``crds``: the CustomResourceDefinitions of HostPool and HPAIntent.
- ``objects``: objects of the API server as the values that placement knows.
- ``snapshot``: a cluster, or manifests, read from files.
- ``watch``: kinds kept up to date by list and watch.
- ``queries``: questions that answers to reviews depend on.
"""
