"""Whole Jobs judged in a process of their own, over the same state of the cluster.

The server forks a worker when a Job comes and none runs: at that moment both have the same inventory, most of it
in memory that they share. From then on the server sends every change of the cluster, in order, before the next Job, so
that a verdict is never older than one of the server's own. Read :mod:`~webhook.cluster.judging.job_worker` first, which
is what reviews see; then ``messages``, ``worker_judge`` (what the worker does), ``channel`` (how the server talks to
it), ``forked`` (how it is started) and ``changes`` (the changes of the cluster that it gets). ``kept_room`` and
``stand_ins`` keep room that was promised, there and in the controller.
"""
