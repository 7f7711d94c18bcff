"""Certificates that live in a cluster: one Secret, and the ``caBundle`` of webhook configurations.

In reading order:

* ``bundle``: several authorities in one PEM text. Pure.
* ``certificate_secret``: what the Secret holds, by key. Pure.
* ``secret``: the Secret as an object of the API server. Pure.
* ``configuration``: a webhook configuration, and the patch that changes nothing but ``caBundle``. Pure.
* ``observed``: what is wanted, and what is seen. ``action``: the steps that can be taken.
* ``rotation``: the next step. Pure but for the randomness of keys; everything about safety is here.
* ``api``: the requests, whose errors name them.
* ``keeper``: the loop of the leader.
* ``flags``: the flags of ``manage``. ``settings``: what they ask for, and how the cluster is reached.
* ``logs``: one line of JSON per record.
* ``run``: the client, the election and the keeper together, until a signal.
* ``command``: the command ``manage``, with its exit codes.

The connection and the election are those of ``kubeapi``.
"""
