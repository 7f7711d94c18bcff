"""The chart with certificates of its own making, for longer than an installation takes."""
