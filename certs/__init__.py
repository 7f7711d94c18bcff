"""The program ``streams-placement-certs``: certificates for the webhook, in a folder or in a cluster.

In reading order:

* ``names``: the names that a leaf is valid for, and checks of names.
* ``certificate``: reads certificates and keys, and says when a certificate is due for renewal. Pure.
* ``authority``: creates authorities, issues leaves. Pure but for randomness.
* ``files``: reads and writes the four files of a folder.
* ``inspection``: what is wrong with the four files. Pure.
* ``creation``: ``create``, which replaces what is not usable in a folder.
* ``report``: ``show``, which reports on a folder as text or JSON.
* ``options``: the flags of these two commands, with their environment variables.
* ``managed``: ``manage``, which keeps a Secret and the ``caBundle`` of webhook configurations, and rotates both.
* ``exits``: the exit codes.
* ``cli``: the entry point. Only this module prints.

A program of its own: nothing here imports ``webhook``, nor the reverse. Both reach the API server through ``kubeapi``.
"""
