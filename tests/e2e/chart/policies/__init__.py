"""The chart's admission policies and roles: what they allow, and what they refuse."""
