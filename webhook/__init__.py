"""Streams host constraints for Kubernetes: honoured, or refused when the pod is submitted.

In reading order:

* ``placement``: the decision core. What was asked, what the cluster has, what follows. Pure.
* ``admission``: an AdmissionReview in, an AdmissionReview out. Pure.
* ``settings``: what an installation may choose; ``setting_fields`` declares it, with every default.
* ``cluster``: where the state of the cluster comes from.
* ``server``: HTTPS for reviews, a second port for health and metrics.
* ``controller``: gives host pools their hosts; the only layer that changes a cluster.
* ``app``: the composition root, the only file that sees every layer.
* ``cli``: one file per command, the only place that prints.

Imports point up this list, never down; ``lint-imports`` checks it.
"""

import os

# The eigenvalues of a few hundred rows take longer in two threads than in one if others are at work, and these threads
# take the cores of reviews while they wait for each other. It counts if it is said before numpy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
