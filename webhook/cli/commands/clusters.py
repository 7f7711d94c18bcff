"""``clusters``: show which of several clusters can take each app, as allow and deny lists."""

import argparse
import asyncio
from collections.abc import Iterator, Sequence
from typing import Final

from webhook.app.clusters import (
    ClusterReading,
    ClusterSource,
    contexts,
    folders,
    placed,
    profiles,
    read_apps,
)
from webhook.cli import warn
from webhook.cli.arguments import given_settings
from webhook.cli.arguments.manifests import manifests_of
from webhook.cli.exits import Exit, WrongUse
from webhook.cli.parsers.clusters import FLEET
from webhook.cli.screen import Screen
from webhook.cli.terminal.differences import as_yaml
from webhook.cli.terminal.output import write
from webhook.cli.terminal.progress import progress
from webhook.placement.clusters.answer import AppList, ClustersAnswer
from webhook.placement.clusters.application import ClusterApp
from webhook.placement.clusters.fleet_objects import ocm_placements, propagation_policies
from webhook.placement.text.problem import counted, enumerated, escape
from webhook.settings import Settings

_LISTED: Final = 12
"""Clusters that a line names; the other forms have all."""


def run(arguments: argparse.Namespace) -> int:
    """Print the lists; returns ``Exit.REFUSED`` if an app has none."""
    settings = given_settings.read(arguments)
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
    if arguments.output in FLEET:
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
