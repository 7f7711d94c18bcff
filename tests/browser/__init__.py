"""Tests of pages in a real browser: ``make browser``. They need more than other tests do, see ``chromium.py``."""
