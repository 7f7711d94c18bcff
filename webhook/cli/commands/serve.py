"""``serve``: runs the webhook server until a signal asks it to stop."""

import argparse
import subprocess
import sys
from typing import Final

import uvloop

from webhook import app
from webhook.cli import own_environment
from webhook.cli.arguments import given_settings
from webhook.cli.exits import Exit, WrongUse
from webhook.server import logs
from webhook.server.fatal_error import FatalError
from webhook.settings import Settings

_CERTIFICATE_SECONDS: Final = 60
"""Time-out for making a certificate, which takes a tenth of a second: a stuck file system has to lead to an error."""

_ALL_ADDRESSES: Final = frozenset({"0.0.0.0", "::"})  # noqa: S104 -- to be recognized, not to be bound
"""Addresses that stand for every address of the machine."""


def run(arguments: argparse.Namespace) -> int:
    """Run the server; returns when it has stopped."""
    settings = given_settings.read(arguments)
    _check_ports(settings)
    settings = _with_certificate(settings)
    logs.configure(settings.log_level)
    uvloop.run(app.serve.serve(settings, _announce))
    return Exit.OK


def _check_ports(settings: Settings) -> None:
    """Raise :class:`WrongUse` if both listeners have the same port; host names are not resolved."""
    hosts = {settings.host, settings.health_host}
    if settings.port == settings.health_port != 0 and (len(hosts) == 1 or hosts & _ALL_ADDRESSES):
        where = f"both {settings.port} on {' and '.join(sorted(hosts))}"
        raise WrongUse(f"--port and --health-port are {where}: give two different numbers, or 0 for free ones")


def _announce(reviews: str, health: str) -> None:
    print("ready", reviews, "health", health, flush=True)


def _with_certificate(settings: Settings) -> Settings:
    """The settings with the paths of a certificate and its key; makes these if ``--tls-self-signed`` is given."""
    if settings.tls_self_signed:
        _make_certificate(settings)
        pair = {"tls_cert": settings.tls_dir / "tls.crt", "tls_key": settings.tls_dir / "tls.key"}
        return settings.model_copy(update=pair)
    if settings.tls_cert is None or settings.tls_key is None:
        raise WrongUse(
            "serving needs a certificate: give --tls-cert and --tls-key, or --tls-self-signed to try things out"
        )
    return settings


def _make_certificate(settings: Settings) -> None:
    """Run ``streams-placement-certs create`` in a process of its own: ``webhook`` does not import ``certs``.

    ``-P`` keeps the current folder out of the search path for modules.
    """
    command = (sys.executable, "-P", "-m", "certs", "create", "--loopback", "--dir", str(settings.tls_dir))
    try:
        subprocess.run(  # noqa: S603 -- our own program, no shell
            command, check=True, capture_output=True, text=True, timeout=_CERTIFICATE_SECONDS, env=own_environment()
        )
    except subprocess.SubprocessError as error:
        reason = (getattr(error, "stderr", None) or str(error)).strip()
        raise FatalError(f"cannot make a certificate: {reason}") from error
