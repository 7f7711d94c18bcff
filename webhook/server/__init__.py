"""The webhook's servers: HTTPS for reviews, and plain HTTP on a second port for health checks and metrics.

In reading order:

* ``lifecycle``: the process that answers reviews, from binding its ports to the last answer. ``background``: the
  process that answers none (the controller). These two are called by ``app``.
* ``http``: a listening port, its connections, requests and answers, and the limits of all of them; ``http_protocol`` is
  the adapter of aiohttp.
* ``reviews``: a POST with an AdmissionReview in, an HTTP answer out; ``fair_queue`` orders decisions when there are too
  many.
* ``health``, ``metrics``, ``logs``: what operators see.
* ``tls``, ``certificate``: the serving certificate, and its replacement while the server runs.
* ``memory``: returns freed heap to the system. ``stop``: signals that ask to stop. ``fatal_error``: ends the program.
"""
