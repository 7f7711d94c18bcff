"""The chart with the real helm, rendered and installed into a real control plane."""
