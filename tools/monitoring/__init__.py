"""``python -m tools.monitoring``: writes the page of metrics and the dashboard of the chart.

``registered`` reads from the code which metrics there are, ``catalogue`` says what each is for, ``metrics_page`` makes
``docs/metrics.md`` of both; ``panels`` and ``dashboard`` make the Grafana dashboard.
"""
