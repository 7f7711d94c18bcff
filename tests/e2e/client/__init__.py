"""A small client of the API server for tests: objects, their paths, and watches."""
