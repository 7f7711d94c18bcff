"""A real control plane as plain processes on loopback, for tests: no containers, no cluster, no privileges.

In reading order: ``modules`` and ``binaries`` find or build the programs, ``process`` and ``component`` run one,
``etcd``, ``apiserver`` and ``followers`` say how each is started, ``plane`` puts them together; ``identities`` and
``api`` are who talks to it and how, ``nodes`` fills it. ``forwarder`` and ``kubelet`` make our own Deployment real:
one process per pod, reached at the cluster address of its Service. ``standing`` keeps a plane up for a person.
"""
