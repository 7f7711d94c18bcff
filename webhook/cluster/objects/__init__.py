"""Objects of the API server (``wire``) as the values that placement knows (``translate``), kind by kind."""
