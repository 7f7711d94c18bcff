"""``why``: why an object of a cluster waits, was refused, or runs where it runs (``docs/why.md``).

``targets`` reads the words TYPE/NAME, ``report`` is the answer, ``changes`` is what has happened since the object was
created, ``lines`` shows the answer to a person.
"""
