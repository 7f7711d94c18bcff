"""Random clusters of devices, and pods that want some of them: a family of scenarios for ``tests/e2e/fidelity``."""
