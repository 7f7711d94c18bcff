"""``FatalError``: the program cannot go on (a port is taken, there is no cluster); it ends with exit code 3."""


class FatalError(Exception):
    """The program cannot go on (a port is taken, a chore failed). Its text is one sentence for the operator."""
