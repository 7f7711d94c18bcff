"""Command line of ``streams-placement-certs``: entry point, and the commands ``create``, ``show`` and ``manage``."""

import argparse
import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Final, NamedTuple

from certs import creation, files, options
from certs.exits import OK, REFUSED, TROUBLE, WRONG_USE
from certs.inspection import Inspection
from certs.managed.flags import MANAGE
from certs.names import Names, printable
from certs.report import PROGRAM, days_left, json_report, text_report

_EPILOG: Final = (
    "Each flag has the environment variable in brackets; the flag wins, an empty variable counts as none. "
    "Exit codes: 0 done, 1 refused or unusable, 2 usage error, 3 failure of the folder or the cluster."
)


class _Command(NamedTuple):
    """A command in the help: one line, then what it does, and its flags."""

    name: str
    summary: str
    description: str
    flags: Sequence[options.Option]


_COMMANDS: Final = (
    _Command(
        name="create",
        summary="make an authority and a leaf, or keep good ones",
        description=(
            "Make an authority and a leaf for a server in a folder: ca.crt, ca.key, tls.crt and tls.key, ECDSA P-256, "
            "keys for their owner alone. What is usable stays: running it again renews what is in the last third of "
            "its life, repairs what is missing or wrong, and otherwise changes nothing."
        ),
        flags=options.CREATE,
    ),
    _Command(
        name="show",
        summary="show what a folder holds, and whether it is usable",
        description=(
            "Show both certificates of a folder, whether they can be used, and if not, what is wrong and the command "
            "that repairs it. Keys are never shown."
        ),
        flags=options.SHOW,
    ),
    _Command(
        name="manage",
        summary="keep those of a webhook in a cluster",
        description=(
            "Keep an authority and a leaf in a Secret and caBundle in webhook configurations, renew both before they "
            "end, and change the authority without a moment in which a client trusts none of what is served. Runs "
            "until SIGTERM, SIGINT or SIGHUP; of several such processes the one that holds the Lease acts. To change "
            "the authority now, remove authority.key from the Secret; to change the leaf, tls.crt."
        ),
        flags=MANAGE,
    ),
)


def main(arguments: Sequence[str] | None = None, now: datetime | None = None) -> int:
    """Run one command; returns the exit code. ``now`` is the time, with a time zone, instead of the clock's (tests)."""
    parsed = parser().parse_args(arguments)
    if parsed.command == "manage":
        return _manage(parsed)
    given = options.FlagValues(parsed, os.environ)
    command = _create if parsed.command == "create" else _show
    try:
        # Certificates have whole seconds; with fractions, a new lifetime of 365 days would be reported as 364.
        return command(given, (now or datetime.now(UTC)).replace(microsecond=0))
    except OSError as error:
        folder, file = str(given.folder()), str(error.filename or "")
        where = f" ({printable(file)})" if file not in ("", folder) else ""
        _complain(parsed.command, f"{printable(folder)} cannot be used: {error.strerror}{where}")
        return TROUBLE


def parser() -> argparse.ArgumentParser:
    """The parser with all commands and all flags."""
    parser = argparse.ArgumentParser(
        PROGRAM, description="Certificates for the admission webhook.", epilog=_EPILOG, allow_abbrev=False
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for each in _COMMANDS:
        command = commands.add_parser(
            each.name, help=each.summary, description=each.description, epilog=_EPILOG, allow_abbrev=False
        )
        for option in each.flags:
            option.add_to(command)
    return parser


def _create(given: options.FlagValues, now: datetime) -> int:
    order = given.order()
    if given.problems:
        return _wrong_use("create", given.problems)
    folder = printable(str(order.folder))
    result = creation.create(order, now)
    if isinstance(result, creation.Refused):
        subject = printable(result.authority.subject.rfc4514_string())
        _complain(
            "create",
            f"{folder} holds the authority {subject}, which another program created and which cannot be used: "
            f"{'; '.join(result.reasons)}. Choose another folder, or replace it for good with --force",
        )
        return REFUSED
    if result.made:
        print(f"made {', '.join(result.made)} in {folder}: {'; '.join(result.reasons)}")
    else:
        print(f"kept the pair in {folder}: it is usable")
    for name in result.protected:
        print(f"restricted access to {name}: its mode is now {files.KEY_MODE:04o}")
    _print_validity(order.names, result, now)
    return OK


def _print_validity(names: Names, result: creation.Created, now: datetime) -> None:
    leaf, authority = result.leaf, result.authority
    print(f"for {', '.join(names.texts)}")
    print(
        f"leaf until {leaf.not_valid_after_utc:%Y-%m-%d} ({days_left(leaf, now)} days), "
        f"authority until {authority.not_valid_after_utc:%Y-%m-%d} ({days_left(authority, now)} days)"
    )


def _show(given: options.FlagValues, now: datetime) -> int:
    folder, output = given.folder(), given.output()
    if given.problems:
        return _wrong_use("show", given.problems)
    inspection = Inspection.of(files.read(folder), now)
    print((json_report if output == "json" else text_report)(folder, inspection, now))
    return REFUSED if inspection.faults else OK


def _manage(parsed: argparse.Namespace) -> int:
    # Imported only here: ``create`` and ``show`` need no HTTP client, which takes longest to import.
    from certs.managed import command  # noqa: PLC0415

    return command.run(parsed, os.environ, partial(_complain, "manage"))


def _wrong_use(command: str, problems: Sequence[str]) -> int:
    for problem in problems:
        _complain(command, problem)
    return WRONG_USE


def _complain(command: str, sentence: str) -> None:
    print(f"{PROGRAM} {command}: {sentence}", file=sys.stderr)
