"""The rules of fusion, one file each: what must be in one processing element, and what must not (``docs/fusion.md``).

A rule gives operators marks. Operators with marks of one key and different values are never fused.
"""
