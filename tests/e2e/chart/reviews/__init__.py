"""Reviews of the installed chart: which requests are reviewed, beside which other webhooks, and while processes end."""
