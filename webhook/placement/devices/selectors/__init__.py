"""CEL selectors of devices: ``selector`` evaluates them.

``expression`` says what a selector reads, and whether its cost has a bound; ``ordered_values`` are its quantities and
semantic versions.
"""
