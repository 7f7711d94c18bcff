"""Scenarios of applications of other operators: the verdict on the object against what happens to its pods."""
