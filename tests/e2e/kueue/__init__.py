"""Kueue's own controller on the control plane, with an admission check of the product."""
