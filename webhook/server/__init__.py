"""The webhook's servers: HTTPS for reviews, and plain HTTP on a second port for health checks and metrics.

In reading order:

* ``limits``: every bound on what a client may send, hold or keep waiting, with its derivation.
* ``lifecycle``: the process that answers reviews, from binding its ports to the last answer. ``background``: the
  process that answers none (the controller). These two are called by ``app``.
* ``listener``, ``connection``: a listening port, its connections, and what ends a connection.
* ``reviews``, ``request_target``, ``replies``: a POST with an AdmissionReview in, an HTTP answer out. ``budget`` bounds
  the memory of large bodies, ``fair_queue`` orders decisions when there are too many.
* ``health``, ``metrics``, ``logs``: what operators see.
* ``tls``, ``certificate``: the serving certificate, and its replacement while the server runs.
* ``memory``: returns freed heap to the system. ``stop``: signals that ask to stop. ``fatal_error``: ends the program.
"""
