"""Leader election by a Lease of a real API server."""
