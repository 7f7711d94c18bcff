"""The chart as helm renders and packages it, mostly without a cluster."""
