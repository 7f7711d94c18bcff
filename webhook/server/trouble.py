"""What ends a program that was used rightly."""


class Trouble(Exception):  # noqa: N818 -- the exit code it stands for is called so, in --help and in docs/operations.md
    """One sentence for the person who started the program; exit code 3."""
