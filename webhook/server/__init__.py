"""The shell: HTTPS for reviews, a second plain port for health and metrics.

In reading order:

* ``limits``: every bound on what a client may send, hold or keep waiting, with its derivation.
* ``lifecycle``: one process from the first bind to the last answer; the entry point of this layer.
* ``site``, ``connection``: a listening port, and what one client may do on it.
* ``reviews``, ``target``, ``duration``, ``replies``: a POST in, an answer out.
* ``health``, ``metrics``, ``logs``: what operators see.
* ``tls``, ``certificate``: the key pair, and its replacement while running.
"""
