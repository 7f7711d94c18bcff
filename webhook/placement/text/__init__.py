"""What every other package of the decision core speaks: names of keys, problems as data, and spelling suggestions.

- ``keys``: every annotation, label and taint key of the product.
- ``api_kinds``: every kind of object that is read, written or reviewed: group, kind and resource.
- ``problem``: ``Problem``, what is wrong with a request: a field, a rule, a fault class.
- ``nearest``: the known word that a mistyped one was probably meant to be.
"""
