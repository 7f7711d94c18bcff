"""The REST interface over a real API server."""
