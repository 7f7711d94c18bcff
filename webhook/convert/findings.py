"""What a conversion finds: manifests, what is wrong with the input, and remarks about what no manifest says.

A remark is about a line of the input that could not be translated as it stands, or that was read in one of several
possible ways. Remarks are printed, and are comments of the output (``docs/coming-from.md``).
"""

import re
from typing import Any, Final

from msgspec import Struct

from webhook.placement.text.problem import Problem

Manifest = dict[str, Any]
"""An object of Kubernetes as decoded JSON."""


_NAME_LIMIT: Final = 59
"""Characters of a Job's name, so that the names of its processing elements are label values."""


class InputLine(Struct, frozen=True, order=True, gc=False):
    """A line of an input, counted from 1, as compilers write it: ``app.spl:12``."""

    file: str
    line: int

    def __str__(self) -> str:
        """``app.spl:12``."""
        return f"{self.file}:{self.line}"


class Remark(Struct, frozen=True, gc=False):
    """One thing that the manifests do not say, or say in a way that a person should look at.

    ``what`` names it, ``why`` gives the reason, ``instead`` what to do about it. ``demand`` tells that a demand of the
    input on the cluster is lost: the job may run where the input forbids it.
    """

    at: InputLine
    what: str
    why: str
    instead: str
    demand: bool = False

    def __str__(self) -> str:
        """The remark on one line: ``app.spl:12: hostColocation(t) is left out: ...; write ...``."""
        return f"{self.at}: {self.what}: {self.why}; {self.instead}"


class Conversion(Struct, frozen=True, gc=False):
    """The result for one input; an input with problems has no manifests."""

    manifests: tuple[Manifest, ...] = ()
    remarks: tuple[Remark, ...] = ()
    problems: tuple[Problem, ...] = ()


class RefusedInputError(Exception):
    """The input, or a part of it, cannot be converted; ``problems`` say why, each at a line."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__(problems[0].message)
        self.problems = problems


def object_name(name: str) -> str:
    """The name of an object for something with another name: ``apps.parallel::Parallel`` becomes ``parallel``.

    What a name of an object cannot hold becomes a hyphen.
    """
    simple = name.rpartition("::")[2].lower()
    return re.sub(r"[^a-z0-9]+", "-", simple).strip("-")[:_NAME_LIMIT].rstrip("-") or "converted"
