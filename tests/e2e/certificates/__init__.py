"""Certificates that the product renews itself, under load."""
