"""``clusters``: show which of several clusters can take each app, as allow and deny lists."""

import argparse
import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from webhook.app.clusters import (
    PARALLEL,
    TIMEOUT,
    ClusterReading,
    ClusterSource,
    contexts,
    folders,
    placed,
    profiles,
    read_apps,
)
from webhook.cli import Subparsers, warn
from webhook.cli.arguments import flags
from webhook.cli.arguments.command_help import HelpExample, declare
from webhook.cli.arguments.manifests import add_manifests, manifests_of
from webhook.cli.exits import Exit, WrongUse
from webhook.cli.screen import Screen
from webhook.cli.terminal.differences import as_yaml
from webhook.cli.terminal.output import add_output, write
from webhook.cli.terminal.progress import progress
from webhook.placement.clusters.answer import AppList, ClustersAnswer
from webhook.placement.clusters.application import ClusterApp
from webhook.placement.clusters.fleet_objects import ocm_placements, propagation_policies
from webhook.placement.text.problem import counted, enumerated, escape
from webhook.settings import Settings

_FLEET: Final = ("karmada", "ocm")
"""Values of ``--output`` that stand for objects of a fleet manager."""

_DESCRIPTION: Final = (
    "For each app of the manifests, list the clusters that can take all of its pods now, each pod on one node that "
    "meets all its requirements. An HPAIntent defines an app with its workloads and its replication count; a workload "
    "without an intent is an app of its own. Apps that cannot share a cluster get lists without a common cluster."
)
_MOST: Final = 1_000_000
"""Above any number of seconds, or of clusters."""

_LISTED: Final = 12
"""Clusters that a line names; the other forms have all."""


HELP_EXAMPLES: Final = (
    HelpExample(
        "clusters whose snapshots are folders",
        "streams-placement clusters -f examples/apps/emco.yaml --clusters examples/clusters",
    ),
    HelpExample(
        "objects that Karmada places apps by",
        "streams-placement clusters -f examples/apps/emco.yaml --clusters examples/clusters -o karmada",
    ),
    HelpExample(
        "clusters that are contexts of the kubeconfig",
        "streams-placement clusters -f apps/ --contexts edge-1,edge-2",
        cluster=True,
    ),
)
"""The examples of the help."""


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = declare(subparsers, "clusters", _DESCRIPTION, HELP_EXAMPLES)
    add_manifests(parser)
    _add_clusters(parser)
    _add_output(parser)
    flags.add(parser, ("context", *flags.JUDGING))


def _add_clusters(parser: argparse.ArgumentParser) -> None:
    """Declare the flags that say which clusters there are, and how they are read."""
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument(
        "--clusters", metavar="DIR", type=Path, help="Folder with one folder for each cluster: its snapshot."
    )
    where.add_argument(
        "--contexts", metavar="NAMES", help="Contexts of the kubeconfig, such as edge-1,edge-2 or name=context."
    )
    where.add_argument(
        "--profiles",
        metavar="NAMESPACE",
        nargs="?",
        const="",
        help="ClusterProfile objects, of a namespace or of all, in the cluster of --context.",
    )
    parser.add_argument(
        "--timeout",
        type=_positive(float),
        default=TIMEOUT,
        metavar="SECONDS",
        help=f"Seconds in which a cluster must answer; one that does not gets no app (default: {TIMEOUT:g}).",
    )
    parser.add_argument(
        "--parallel",
        type=_positive(int),
        default=PARALLEL,
        metavar="NUMBER",
        help=f"Clusters that are read, and kept in memory, at the same time (default: {PARALLEL}).",
    )


def _add_output(parser: argparse.ArgumentParser) -> None:
    """Declare the flags about the form of the answer."""
    add_output(parser, *_FLEET, note="Form of the answer; karmada and ocm write objects of these fleet managers")
    parser.add_argument(
        "--divide",
        action="store_true",
        help="With -o karmada, divide replicas between clusters by weight; without it each cluster runs all of them.",
    )


class _positive:  # noqa: N801 -- argparse names the type in its message
    """A number above 0, for argparse."""

    def __init__(self, kind: type[int] | type[float]) -> None:
        self._kind = kind
        self.__name__ = "number above 0"

    def __call__(self, text: str) -> float:
        """The number; ``ValueError`` for any other text."""
        number = self._kind(text)
        if not 0 < number < _MOST:
            raise ValueError
        return number


def run(arguments: argparse.Namespace) -> int:
    """Print the lists; returns ``Exit.REFUSED`` if an app has none."""
    settings = flags.read(arguments)
    given = manifests_of(arguments)
    try:
        apps = read_apps(given, warn)
        sources = _sources(arguments, settings)
    except ValueError as error:
        raise WrongUse(str(error)) from error
    if not apps:
        raise WrongUse("no app in the manifests: an HPAIntent, or a workload such as a Deployment, is needed")
    with progress() as step:
        reading = ClusterReading(arguments.timeout, int(arguments.parallel), step=step)
        answer = placed(sources, apps, given, reading, warn)
    if arguments.output in _FLEET:
        _write_objects(apps, answer, arguments)
    elif arguments.output == "text":
        _show(answer, Screen())
    else:
        write(answer, arguments.output)
    return Exit.REFUSED if answer.refused else Exit.OK


def _sources(arguments: argparse.Namespace, settings: Settings) -> list[ClusterSource]:
    if arguments.clusters is not None:
        return folders(arguments.clusters, settings)
    if arguments.contexts is not None:
        return contexts(arguments.contexts, settings)
    return asyncio.run(profiles(arguments.profiles, settings))


def _write_objects(apps: Sequence[ClusterApp], answer: ClustersAnswer, arguments: argparse.Namespace) -> None:
    """Print the objects of a fleet manager, and on standard error what they do not say."""
    for text in (*dict.fromkeys(answer.refused.values()), *_remarks(answer)):
        warn(text)
    if arguments.output == "ocm":
        objects = list(ocm_placements(apps, answer))
    else:
        objects = list(propagation_policies(apps, answer, divide=arguments.divide))
    print("---\n".join(as_yaml(one) for one in objects), end="")


def _show(answer: ClustersAnswer, screen: Screen) -> None:
    """Print the answer for a person."""
    if answer.apps:
        rows = [
            (escape(name), str(one.replication_count), _list(one, answer), _best(one))
            for name, one in answer.apps.items()
        ]
        screen.table(("APP", "COUNT", "CLUSTERS", "BEST"), rows, fixed=("APP", "COUNT"))
    for text in dict.fromkeys(answer.refused.values()):
        screen.refusal(escape(text) if "\n" not in text else "\n".join(map(escape, text.split("\n"))))
    for line in _remarks(answer):
        screen.say(line, "yellow")


def _list(one: AppList, answer: ClustersAnswer) -> str:
    if one.allow is not None:
        return f"allow {enumerated(one.allow, _LISTED)}"
    denied = one.deny or ()
    allowed = counted(len(answer.clusters) - len(denied), "cluster")
    return f"deny {enumerated(denied, _LISTED)} (allows {allowed})" if denied else f"deny none (allows {allowed})"


def _best(one: AppList) -> str:
    return ", ".join(f"{name} ({one.weights[name]})" if name in one.weights else name for name in one.best)


def _remarks(answer: ClustersAnswer) -> Iterator[str]:
    """A line for each set of apps in contention, and for each cluster that was not read."""
    for one in answer.contention:
        apps, names = enumerated(one.apps, _LISTED), enumerated(one.clusters, _LISTED)
        yield f"in contention: {escape(apps)} cannot all run on {escape(names)}"
    for name, trouble in answer.unread.items():
        yield f"not read, so no app goes there: {escape(name)}: {escape(trouble)}"
