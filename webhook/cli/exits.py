"""Exit codes of the commands, and the error of wrong use."""

import enum


class Exit(enum.IntEnum):
    """Exit codes; the same for every command."""

    OK = 0
    REFUSED = 1
    """The command did its work, and the answer is no."""
    WRONG_USE = 2
    """A flag, a variable or an argument is wrong."""
    TROUBLE = 3
    """Used rightly, but the machine, the network or the program itself would not."""


class WrongUse(Exception):  # noqa: N818 -- named after the exit code that it leads to
    """One sentence for the person at the keyboard: what is wrong, and what would be right."""
