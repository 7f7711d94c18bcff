"""Certificates for the webhook: an authority, a leaf, and the folder that holds them (``docs/operations.md``).

In reading order:

* ``names``: what a leaf is for, checked.
* ``certificate``: what a certificate says of itself, and when it is due for renewal. Pure.
* ``authority``: makes an authority, issues leaves. Pure but for randomness.
* ``files``: reads and writes the four files of a folder.
* ``inspection``: what is wrong with four files. Pure.
* ``creation``: makes what is missing or wrong, keeps what is good.
* ``report``: a folder's state as text or JSON.
* ``options``: every flag, with its environment variable.
* ``managed``: the same in a cluster: a Secret and the ``caBundle`` of webhook configurations, rotated in place.
* ``exits``: the exit codes.
* ``cli``: ``streams-placement-certs create``, ``show`` and ``manage``, the only place that prints.

A program of its own: nothing here imports ``webhook``, nor the reverse. Both reach the API server through ``kubeapi``.
"""
