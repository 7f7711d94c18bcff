"""Rules of the fields of our objects: each is written once, and makes both the schema and the checks of a field.

Read in this order: ``rules`` (the kinds of rules), ``hostpool_patterns`` and ``element_patterns`` (the forms of texts).
"""
