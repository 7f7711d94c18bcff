"""Workloads on the installed chart: what is admitted runs, and what is refused could not."""
