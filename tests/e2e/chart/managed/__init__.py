"""The chart with managed certificates (``tls.source: managed``), over several rotations."""
