"""Streams host constraints for Kubernetes: honoured, or refused when the pod is submitted.

In reading order:

* ``placement``: the decision core. What was asked, what the cluster has, what follows. Pure.
* ``admission``: an AdmissionReview in, an AdmissionReview out. Pure.
* ``settings``: what an installation may choose, with every default visible.
* ``cluster``: where the state of the cluster comes from.
* ``server``: HTTPS for reviews, a second port for health and metrics.
* ``controller``: gives host pools their hosts; the only layer that changes a cluster.
* ``app``: the composition root, the only file that sees every layer.
* ``cli``: one file per command, the only place that prints.

Imports point up this list, never down; ``lint-imports`` checks it.
"""
