"""What the webhook costs, in ratios inside one run: ``python -m bench``.

In reading order: ``topology``, ``nodes``, ``pods`` and ``streams`` say what the made-up cluster holds, ``generator``
writes it down, ``bodies`` asks about it. ``echo`` is the bare peer, ``processes`` runs both. ``throughput``,
``latency``, ``memory`` and ``evaluation`` (with ``nodeloop``, what it is compared to) measure; ``goals`` and
``report`` say what that is worth. ``__main__`` puts it together.
"""
