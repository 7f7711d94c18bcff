"""Certificates that live in a cluster: one Secret, and the ``caBundle`` of webhook configurations.

In reading order:

* ``bundle``: several authorities in one PEM text. Pure.
* ``holding``: what the Secret holds, read and written. Pure.
* ``rotation``: what is to be done next. Pure but for the randomness of keys; everything about safety is here.
* ``steady``: for how long something has looked the same.
* ``configuration``: a webhook configuration, and the patch that changes nothing but ``caBundle``. Pure.
* ``access``: where the API server is, and how to prove who asks.
* ``api``: the few requests, each bounded.
* ``lease``: who may act.
* ``keeper``: look, decide, act, and again.
* ``settings``: the flags of ``manage``.
* ``logs``: one line of JSON per record.
* ``run``: puts them together, until a signal.
"""
