"""``tour``: starts the server on a loopback port with TLS, sends it every example as a review, shows the answers."""

import argparse
import contextlib
import itertools
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from webhook.admission.checks.templates import DescribedPod, is_job, origin_of, pods_of
from webhook.admission.unstructured import Unstructured, mapping
from webhook.cli import own_environment, typed_name
from webhook.cli.client import Client, Reply, is_workload
from webhook.cli.exits import Exit, WrongUse
from webhook.cli.screen import Screen
from webhook.cli.terminal.differences import changed_lines
from webhook.cli.terminal.output import TEXT, write
from webhook.cli.terminal.progress import progress
from webhook.cluster.snapshot.manifests import read_manifests
from webhook.placement.text.keys import MAPPED, PLACEMENT, PREFIX
from webhook.placement.text.nearest import nearest
from webhook.placement.text.problem import counted, enumerated, escape, quote, shorten
from webhook.placementreview.explanations.decided_pod import NAMESPACE

_STOP_SECONDS: Final = 20
"""Time-out for the server to stop; without a drain it takes a tenth of a second."""

_FULL: Final = ("pool-tagged", "refused-pool-and-exlocation", "refused-replicas")
"""Examples that are shown in full by default: a patch, a refused pod, and a refused workload."""

_ASKED_WIDTH: Final = 48
"""Width in characters of the table column that shows what the example asks for."""

_WIDTH: Final = 120
"""Columns of what is shown off a terminal: what a log or a page shows without scrolling."""

_FIELD: Final = re.compile(r"(?:metadata|spec)[^ ]*: ")
"""The field at the beginning of a refusal, which the table leaves out."""

_WORKER_PREFIX: Final = "kubernetes.worker."
"""The beginning of Twister2's names for worker mapping, which the table leaves out."""


class TourAnswer(Struct, frozen=True, kw_only=True):
    """The server's answer about one example, for programs.

    ``asked`` are its annotations of this product, ``code`` the HTTP status of the answer (200 if admitted), and
    ``after`` the object with the patch applied, ``null`` if it is refused.
    """

    example: str
    origin: str
    asked: dict[str, str]
    verdict: Literal["admitted", "refused"]
    code: int
    message: str
    warnings: tuple[str, ...]
    after: Unstructured | None


class Sent(Struct, frozen=True):
    """A pod of an example, or the workload that would have it, and the server's answer."""

    path: Path
    found: DescribedPod
    reply: Reply

    @property
    def outcome(self) -> str:
        """``admitted``, or ``refused`` with the code."""
        return "admitted" if self.reply.after is not None else f"refused {self.reply.code}"

    @property
    def asked(self) -> dict[str, str]:
        """The pod's annotations of this product, by their keys."""
        annotations = mapping(self.found.pod, "metadata", "annotations")
        return {key: str(value) for key, value in annotations.items() if key.startswith(PREFIX)}

    def row(self) -> tuple[str, str, str, str]:
        """The row of the table: the example's name, what it asks for, the outcome, the first line of the answer."""
        messages = [
            _FIELD.sub("", self.reply.message, count=1),
            *(f"warning: {warning}" for warning in self.reply.warnings),
        ]
        first = next(filter(None, messages), "").partition("\n")[0]
        return self.path.stem, shorten(self._summary(), _ASKED_WIDTH), self.outcome, escape(first)

    def answer(self) -> TourAnswer:
        """The example and the answer, for programs."""
        return TourAnswer(
            example=self.path.stem,
            origin=self.found.origin,
            asked=self.asked,
            verdict="refused" if self.reply.after is None else "admitted",
            code=self.reply.code,
            message=self.reply.message,
            warnings=self.reply.warnings,
            after=self.reply.after,
        )

    def _summary(self) -> str:
        """What the pod asks for in its annotations; the first line of the example's comment if it has none."""
        words = [
            value if key == PLACEMENT else f"{key.removeprefix(PREFIX).removeprefix(_WORKER_PREFIX)}: {value}"
            for key, value in self.asked.items()
            if (key, value) != (MAPPED, "true")
        ]
        return " ".join("; ".join(words).split()) or f"({next(comment(self.path), '')})"


def run(arguments: argparse.Namespace) -> int:
    """Send the examples to a server and show the answers; returns when the server has stopped."""
    examples: Path = arguments.examples
    files = sorted(path for path in examples.glob("*.yaml") if not path.name.endswith(".expected.yaml"))
    if not files or not (examples / "cluster").is_dir():
        raise WrongUse(f"{examples} holds no examples: a folder cluster and manifests beside it")
    if arguments.only is not None:
        files = _matching(files, arguments.only)
    screen = Screen(width=_WIDTH)
    text = arguments.output == TEXT
    with tempfile.TemporaryDirectory(prefix="streams-placement-") as folder, progress() as step:
        step("starting the server", 0, 0)
        with _server(examples, Path(folder)) as url, contextlib.closing(Client(url, Path(folder) / "ca.crt")) as client:
            sent = list[Sent]()
            for at, path in enumerate(files):
                step("sending examples", at, len(files))
                sent += _sent(path, client)
    if text:
        screen.say(f"The server answered on {url}; the cluster is {examples / 'cluster'}.\n")
    if not text:
        write([each.answer() for each in sent], arguments.output)
        return Exit.OK
    _show(sent, screen, table=not arguments.all and arguments.only is None)
    refused = sum(each.reply.after is None for each in sent)
    screen.say(f"{counted(len(sent), 'example')} sent: {len(sent) - refused} admitted, {refused} refused.")
    screen.say("The server has stopped. Next, the answer about one manifest, and a server that stays up:")
    cluster, program = _near(examples / "cluster"), typed_name()
    one = next((path for path in files if path.stem == _FULL[0]), files[0])
    screen.say(f"  {program} explain -f {_near(one)} --snapshot {cluster}")
    screen.say(f"  {program} serve --snapshot {cluster} --tls-self-signed")
    return Exit.OK


def _near(path: Path) -> Path:
    """The path as it is typed in the current folder, if it is below that."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _matching(files: list[Path], pattern: str) -> list[Path]:
    """The files whose names match the pattern, with or without ``.yaml``; raises :class:`WrongUse` if none does."""
    matching = [path for path in files if fnmatchcase(path.name, pattern) or fnmatchcase(path.stem, pattern)]
    if not matching:
        near = nearest(pattern, [path.stem for path in files])
        hint = f"did you mean {near}?" if near else f"there are {enumerated([path.stem for path in files], 3)}"
        raise WrongUse(f"there is no example {quote(pattern)}: {hint}")
    return matching


@contextlib.contextmanager
def _server(examples: Path, folder: Path) -> Iterator[str]:
    """Run a server inside the context, which yields its URL; ``folder`` gets the server's certificate."""
    flags = ("--tls-self-signed", "--tls-dir", folder, "--port", "0", "--health-port", "0", "--drain", "0")
    snapshot = ("--snapshot", examples / "cluster", "--log-level", "error")
    command = (sys.executable, "-P", "-m", "webhook", "serve", *flags, *snapshot)
    with subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True, env=own_environment()) as process:  # noqa: S603 - ourselves
        try:
            ready = (process.stdout.readline() if process.stdout else "").split()
            if not ready:
                raise ConnectionError("the server did not start; its output is above")
            yield ready[1]
        finally:
            process.terminate()
            process.wait(_STOP_SECONDS)


def _sent(path: Path, client: Client) -> Iterator[Sent]:
    """Send each pod and each workload of the manifest to the server; of a Job of Streams only the Job itself."""
    for document in read_manifests(path):
        if is_job(document):
            whole = DescribedPod(origin_of(document), document)
            yield Sent(path, whole, client.review_workload(document, _namespace(document)))
            continue
        for described in pods_of(document):
            yield Sent(path, described, _reply(document, described, client))


def _namespace(document: Unstructured) -> str:
    return str(mapping(document, "metadata").get("namespace") or NAMESPACE)


def _show(sent: list[Sent], screen: Screen, *, table: bool) -> None:
    """Show the examples as a table with a few examples below it in full, or all in full."""
    full = sent
    if table:
        head = ("EXAMPLE", "ASKED", "OUTCOME", "SAID")
        screen.table(head, [each.row() for each in sent], fixed=("EXAMPLE", "OUTCOME"))
        full = [each for each in sent if each.path.stem in _FULL] or sent[: len(_FULL)]
        screen.say(f"\n{len(full)} of them in full; --all shows every one, --only PATTERN those of that name.\n")
    for each in full:
        _show_one(each, screen)


def _reply(document: Unstructured, described: DescribedPod, client: Client) -> Reply:
    """The server's answer about the pod, with the warnings about its workload; that about a refused workload alone."""
    namespace = _namespace(described.pod)
    if not is_workload(document):
        return client.review_pod(described.pod, namespace)
    whole = client.review_workload(document, namespace)
    if whole.after is None:
        return whole
    single = client.review_pod(described.pod, namespace)
    return replace(single, warnings=tuple(dict.fromkeys((*whole.warnings, *single.warnings))))


def _show_one(sent: Sent, screen: Screen) -> None:
    """Show one example in full: its comment, what it asks for, and the server's answer."""
    screen.heading(f"{sent.path.name}: {escape(sent.found.origin)}")
    for line in comment(sent.path):
        screen.prose(f"  {line}", "italic")
    for key, value in sent.asked.items():
        screen.prose(f"  asked: {key}: {value}", "cyan")
    if sent.reply.after is None:
        screen.say(f"  refused with {sent.reply.code}:")
        screen.refusal(sent.reply.message)
    else:
        screen.say("  admitted:", "green")
        screen.difference(changed_lines(sent.found.pod, sent.reply.after))
    for warning in sent.reply.warnings:
        screen.prose(f"  warning: {warning}", "yellow")
    screen.say("")


def comment(path: Path) -> Iterator[str]:
    """The lines of the comment at the beginning of a manifest, without ``#``."""
    comment = itertools.takewhile(lambda line: line.startswith("#"), path.read_text().splitlines())
    return (escape(line.removeprefix("#").strip()) for line in comment)
