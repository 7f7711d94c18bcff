"""Operators of other projects as programs of a control plane: what their manifests give them, and how they are run."""
