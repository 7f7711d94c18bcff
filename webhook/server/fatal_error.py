"""``FatalError``: ends the program with exit code 3, although its flags and settings are right."""


class FatalError(Exception):
    """The program cannot go on (a port is taken, a chore failed). Its text is one sentence for the operator."""
