"""What ends a program that was used rightly."""


class FatalError(Exception):
    """One sentence for the person who started the program; exit code 3."""
