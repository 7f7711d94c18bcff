"""The forms of an answer: ``-o text|json|yaml``. The one place that writes JSON and YAML for the commands.

A command makes its answer as one value (a msgspec Struct, or a list of them) and shows it as text by itself. The JSON
of each command has a schema in ``docs/schemas``; YAML has the same fields (``docs/command-line.md``).
"""

import argparse
import json
from collections.abc import Callable, Mapping
from typing import Final

import msgspec

TEXT: Final = "text"
"""The form for a person."""


def add_output(parser: argparse.ArgumentParser, *more: str, note: str = "", forms: tuple[str, ...] = ()) -> None:
    """Declare ``-o``: text, the forms for programs, and ``more`` that only this command has.

    ``note`` is a sentence about these. ``forms`` are all forms of a command without a text; the first is the default.
    """
    choices = forms or (TEXT, *FORMS, *more)
    said = f"{note} (default: {choices[0]})." if note else f"Output format (default: {choices[0]})."
    parser.add_argument("-o", "--output", choices=choices, default=choices[0], help=said)


def write(answer: object, form: str) -> None:
    """Print the answer as ``json`` or ``yaml``."""
    print(FORMS[form](msgspec.to_builtins(answer)))


def _as_json(answer: object) -> str:
    # In ASCII, as YAML is: texts of others have no effect on a terminal, and any locale can print them.
    return json.dumps(answer, indent=2)


def _as_yaml(answer: object) -> str:
    # YAML is imported when it is written: `version` must not wait for it.
    from webhook.cli.terminal.differences import as_yaml  # noqa: PLC0415

    return as_yaml(answer).rstrip("\n")


FORMS: Final[Mapping[str, Callable[[object], str]]] = {"json": _as_json, "yaml": _as_yaml}
"""The forms for programs, and the functions that write them."""
