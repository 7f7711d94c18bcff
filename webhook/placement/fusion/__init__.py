"""Fusion: which operators of a Job share a processing element (``docs/fusion.md``)."""
