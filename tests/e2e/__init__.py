"""A real control plane as plain processes on loopback, for tests: no containers, no cluster, no privileges.

In reading order: ``modules`` and ``binaries`` find or build the programs, ``process`` and ``component`` run one,
``etcd``, ``apiserver`` and ``followers`` start each of them, ``plane`` starts all. ``identities`` has the accounts of
clients, ``api`` is a client, ``nodes`` creates nodes. ``forwarder`` and ``kubelet`` run the product's own Deployment:
one process per pod, reached at the cluster address of its Service. ``standing`` keeps a control plane up for a person.
"""
