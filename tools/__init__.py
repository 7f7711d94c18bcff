"""Programs for developers of this repository; they are not installed."""
