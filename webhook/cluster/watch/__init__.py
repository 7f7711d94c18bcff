"""Kinds kept up to date by list and watch, with client-go's names: ``reflector``, ``list_watch``, ``store``."""
