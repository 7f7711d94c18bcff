"""The chart's own objects on a real API server: HostPools, HPAIntents, Jobs and ProcessingElements."""
