"""Commands of the documentation that need a cluster."""
