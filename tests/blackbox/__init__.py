"""The REST interface as a stranger sees it: requests that schemathesis makes up from the OpenAPI document."""
