"""Selectors, terms of node affinity and tolerations, as Kubernetes matches them."""
