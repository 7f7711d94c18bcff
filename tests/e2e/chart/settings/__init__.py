"""The installed chart with other settings, one after another; the tests that follow get back what they had."""
