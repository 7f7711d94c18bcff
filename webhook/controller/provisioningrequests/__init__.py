"""ProvisioningRequests: the cluster autoscaler is asked whether it has room for a Job that waits for new nodes.

Read in this order: ``stored_request`` (a request, and the answer in its status), ``request_store`` (all of them, as the
watch brings them), ``asked_pods`` (the pods of a Job as admission will make them), ``request_object`` (a request as
JSON), ``reconciler``. See ``docs/autoscaled.md``, "Asking the cluster autoscaler".
"""
