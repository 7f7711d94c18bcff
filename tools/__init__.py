"""Programs for the people who work on this repository; none of them is installed."""
