"""The webhook's caches with a real API server: at scale, during outages, with two API servers, and with odd objects."""
