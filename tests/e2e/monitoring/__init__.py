"""Alerts, dashboard and ServiceMonitors of the chart, as a real Prometheus reads them."""
