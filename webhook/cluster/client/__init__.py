"""An API client: configuration, credentials, one connection, and single requests over it."""
