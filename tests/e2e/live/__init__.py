"""The live caches against a real API server: at scale, while it is away, silent or twofold, and with odd objects."""
