"""The lowest package of the decision core: names of keys, clauses, problems and fixes as data, spelling suggestions.

Read in this order:

- ``keys``: every annotation key, label key and taint key of the product.
- ``defaults``: defaults of flags and settings that deeper layers have as well.
- ``api_kinds``: every kind of object that is read, written or reviewed: group, kind and resource.
- ``problem``: ``Problem``, one mistake in a request (field, sentence, status code), and its text in a refusal.
- ``clause``: ``Clause``, one thing that a user wrote and that restricts the nodes of a pod.
- ``fix``: ``Fix``, one change that would help what was refused.
- ``nearest``: the known word that is most like a mistyped one.
"""
