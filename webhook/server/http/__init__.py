"""A listening port: its connections, the requests that arrive on them, and the bounds on both.

Read in this order: ``limits`` (every bound on what a client may send, hold or keep waiting, with its derivation),
``listener`` and ``connection`` (a port, its connections, and what ends one), ``request_target`` and ``request_body``
(what arrives), ``replies`` and ``long_body`` (what is answered), ``budget`` (the memory of large bodies).
"""
