"""Kinds of other operators' objects, as data: which pods an operator makes of an object, read from one file a kind.

Read in this order: ``formula`` (the paths and formulas of the files), ``kind`` (the fields of a file), ``merging`` (two
templates made into one), ``pod_making`` (the pod of a component), ``steps`` (which templates of a Workflow call which),
``placeholders`` (texts that are filled in later), ``references`` (objects that say what the pods are), ``application``
(an object expanded into components), ``karta`` (kinds that a cluster describes itself). The files are beside these
modules; a higher layer reads them. See ``docs/applications.md``.
"""
