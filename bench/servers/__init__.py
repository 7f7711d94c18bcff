"""Processes that the benchmarks start, and the client that asks them.

``echo`` is the server without any logic that the webhook is compared with, ``listing`` and ``lives`` are API servers
for one client; ``processes`` runs them and the webhook.
"""
