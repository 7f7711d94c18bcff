"""Exit codes of the commands, and ``WrongUse``, the error for wrong flags and arguments."""

import enum


class Exit(enum.IntEnum):
    """Exit codes; the same for every command."""

    OK = 0
    REFUSED = 1
    """The command did its work, and the answer is that an object is refused."""
    WRONG_USE = 2
    """A flag, an environment variable or an argument is wrong."""
    TROUBLE = 3
    """The use was right, but the machine, the network or the program itself failed."""


class WrongUse(Exception):  # noqa: N818 -- named after the exit code that it leads to
    """A flag, variable or argument is wrong. The text is one sentence: what is wrong, and what would be right."""
