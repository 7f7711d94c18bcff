"""``tour``: the real server over real TLS on loopback, and every example sent to it as a real review."""

import argparse
import contextlib
import itertools
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from webhook.admission.document import Document
from webhook.admission.workloads import Found, pods_of
from webhook.cli import COMMANDS, Subparsers
from webhook.cli.client import Client, Reply, is_workload
from webhook.cli.differences import changed_lines
from webhook.cli.exits import Exit, WrongUse
from webhook.cli.explanation import NAMESPACE
from webhook.cli.screen import Screen
from webhook.cluster.manifests import read_manifests
from webhook.placement.keys import PREFIX
from webhook.placement.problem import escape

EXAMPLES: Final = Path(__file__).parents[2] / "examples"
"""The examples of the repository that this file belongs to."""

_STOP_SECONDS: Final = 20
"""For the server to stop; it needs a tenth of a second without a drain."""

_DESCRIPTION = (
    "Start the server with a certificate of its own on a free loopback port, against the snapshot in "
    "EXAMPLES/cluster, send it the workloads and pods of every manifest in EXAMPLES, show what becomes of them, and "
    "stop it."
)


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = subparsers.add_parser("tour", help=COMMANDS["tour"], description=_DESCRIPTION, allow_abbrev=False)
    parser.add_argument("--examples", type=Path, default=EXAMPLES, metavar="DIR", help="Folder of examples.")


def run(arguments: argparse.Namespace) -> int:
    """Show every example; returns when the server has stopped."""
    examples: Path = arguments.examples
    files = sorted(path for path in examples.glob("*.yaml") if not path.name.endswith(".expected.yaml"))
    if not files or not (examples / "cluster").is_dir():
        raise WrongUse(f"{examples} holds no examples: a folder cluster and manifests beside it")
    screen = Screen()
    with tempfile.TemporaryDirectory(prefix="streams-placement-") as folder, _server(examples, Path(folder)) as url:
        screen.say(f"The server answers on {url}; the cluster is {examples / 'cluster'}.\n")
        client = Client(url, Path(folder) / "ca.crt")
        with contextlib.closing(client):
            refused = [reply.after is None for path in files for reply in _example(path, client, screen)]
    screen.say(f"{len(refused)} examples were sent: {refused.count(False)} admitted, {refused.count(True)} refused.")
    screen.say("The server has stopped. Next: make serve, or streams-placement explain --help.")
    return Exit.OK


@contextlib.contextmanager
def _server(examples: Path, folder: Path) -> Iterator[str]:
    """The URL of a server that runs for as long as the context lasts."""
    flags = ("--tls-self-signed", "--tls-dir", folder, "--port", "0", "--health-port", "0", "--drain", "0")
    snapshot = ("--snapshot", examples / "cluster", "--log-level", "error")
    command = (sys.executable, "-P", "-m", "webhook", "serve", *flags, *snapshot)
    with subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - ourselves
        try:
            said = (process.stdout.readline() if process.stdout else "").split()
            if not said:
                raise ConnectionError("the server did not start; what it said stands above")
            yield said[1]
        finally:
            process.terminate()
            process.wait(_STOP_SECONDS)


def _example(path: Path, client: Client, screen: Screen) -> Iterator[Reply]:
    """Send the workloads and pods of one manifest, and show what was asked and what came of it."""
    for document in read_manifests(path):
        for found in pods_of(document):
            reply = _sent(document, found, client)
            screen.heading(f"{path.name}: {escape(found.origin)}")
            for line in _comment(path):
                screen.say(f"  {line}", "italic")
            _show(found, reply, screen)
            yield reply


def _sent(document: Document, found: Found, client: Client) -> Reply:
    """What becomes of the pod, and what is said of its workload; of a workload that is refused there is no pod."""
    namespace = found.pod["metadata"].get("namespace", NAMESPACE)
    if not is_workload(document):
        return client.create(found.pod, namespace)
    whole = client.submit(document, namespace)
    if whole.after is None:
        return whole
    single = client.create(found.pod, namespace)
    return replace(single, warnings=tuple(dict.fromkeys((*whole.warnings, *single.warnings))))


def _comment(path: Path) -> Iterator[str]:
    """The lines of the comment that a manifest begins with."""
    comment = itertools.takewhile(lambda line: line.startswith("#"), path.read_text().splitlines())
    return (escape(line.removeprefix("#").strip()) for line in comment)


def _show(found: Found, reply: Reply, screen: Screen) -> None:
    annotations = found.pod["metadata"].get("annotations") or {}
    for key, value in annotations.items():
        if key.startswith(PREFIX):
            screen.say(f"  asked: {key}: {escape(str(value))}", "cyan")
    if reply.after is None:
        screen.say(f"  refused with {reply.code}:")
        screen.refusal(reply.message)
    else:
        screen.say("  admitted:", "green")
        screen.difference(changed_lines(found.pod, reply.after))
    for warning in reply.warnings:
        screen.say(f"  warning: {escape(warning)}", "yellow")
    screen.say("")
