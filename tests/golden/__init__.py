"""``make golden``: rewrite every expected text that the product words differently now.

Read in this order: ``__main__`` (the command), ``examples`` (expected results of the example manifests), ``plugin``
(what failing tests compared), ``comparison`` (which texts of two values differ), ``wording`` (which words of two texts
differ), ``literals`` (the string literals of a Python file, character by character), ``rewriting`` (from failures to
edits), ``layout`` (edited files, formatted) and ``pages`` (outputs that the documentation shows).
"""
