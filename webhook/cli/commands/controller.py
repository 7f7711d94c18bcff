"""``controller``: runs the controller of HostPools and Jobs until a signal asks it to stop."""

import argparse

import uvloop

from webhook import app
from webhook.cli.arguments import given_settings
from webhook.cli.exits import Exit
from webhook.server import logs


def run(arguments: argparse.Namespace) -> int:
    """Run the controller; returns when it has stopped."""
    settings = given_settings.read(arguments)
    logs.configure(settings.log_level)
    uvloop.run(app.controller.control(settings, _announce))
    return Exit.OK


def _announce(health: str) -> None:
    print("controlling health", health, flush=True)
