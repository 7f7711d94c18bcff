"""The decision core: constraints and a cluster in, a verdict and its effects out.

No input or output, no clock, no log, no environment: the world is an argument (``docs/architecture.md``).
"""
