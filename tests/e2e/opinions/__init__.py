"""Kubernetes' own Go packages, asked about the texts and pods that the product judges."""
