"""``hpa-api``: runs EMCO's REST interface of HPA intents until a signal asks it to stop."""

import argparse
from typing import Final

import uvloop

from webhook import app
from webhook.cli import Subparsers
from webhook.cli.arguments import flags
from webhook.cli.arguments.command_help import HelpExample, declare
from webhook.cli.exits import Exit, WrongUse
from webhook.rest.access import listens_on_loopback
from webhook.rest.rest_settings import RestSettings
from webhook.server import logs

_FLAGS: Final = (
    "host", "port", "store", "context", "namespace", "token_file", "authorize", "audience", "tls_cert", "tls_key",
    "client_ca", "max_connections", "max_rate", "clusters", "contexts", "cluster_timeout", "cluster_parallel",
    "drain", "log_level",
)  # fmt: skip
_DESCRIPTION: Final = (
    "Answer EMCO's REST requests about HPA intents (paths below /v2), and keep the intents as HPAIntent objects of a "
    "cluster, or with --store in a file. Prints one line when ready: the URL. On loopback it serves plain HTTP "
    "without tokens; any other address needs a certificate and tokens. SIGTERM, SIGINT or SIGHUP: report unready "
    "immediately, answer for --drain more seconds, then stop; a second signal stops immediately."
)


HELP_EXAMPLES: Final = (
    HelpExample("with the intents in a file, on a free port", "streams-placement hpa-api --store intents.db --port 0"),
    HelpExample(
        "with the intents as objects of a cluster",
        "streams-placement hpa-api --context kind-lab --namespace emco",
        cluster=True,
    ),
)
"""The examples of the help."""


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = declare(subparsers, "hpa-api", _DESCRIPTION, HELP_EXAMPLES)
    flags.add(parser, _FLAGS, RestSettings)


def run(arguments: argparse.Namespace) -> int:
    """Run the interface; returns when it has stopped."""
    settings = flags.read_as(arguments, RestSettings)
    _check_storage(settings)
    _check_exposure(settings)
    logs.configure(settings.log_level)
    uvloop.run(app.hpa_api.serve_intents(settings, _announce))
    return Exit.OK


def _check_storage(settings: RestSettings) -> None:
    """Raise :class:`WrongUse` if flags about a cluster are given together with a file, or two about who may ask."""
    if settings.token_file is not None and settings.authorize:
        raise WrongUse("--token-file and --authorize are both given: tokens are those of the file, or of the cluster")
    if settings.clusters is not None and settings.contexts:
        raise WrongUse("--clusters and --contexts are both given: clusters are read from one of them")
    if settings.store is None:
        return
    if settings.context is not None:
        raise WrongUse("--store and --context are both given: intents are stored in one of them")
    if settings.authorize:
        raise WrongUse("--authorize asks the API server of a cluster, and with --store there is none: use --token-file")


def _check_exposure(settings: RestSettings) -> None:
    """Raise :class:`WrongUse` if the interface could be reached from other machines without TLS or without a token."""
    if (settings.tls_cert is None) != (settings.tls_key is None):
        raise WrongUse("--tls-cert and --tls-key belong together: give both, or none of them")
    if settings.client_ca is not None and settings.tls_cert is None:
        raise WrongUse("--client-ca asks clients for certificates, which takes TLS: give --tls-cert and --tls-key, too")
    if listens_on_loopback(settings.host):
        return
    where = f"{settings.host} can be reached from other machines"
    if settings.tls_cert is None:
        raise WrongUse(f"{where}, so --tls-cert and --tls-key are needed; without them, --host is 127.0.0.1")
    if settings.store is not None and settings.token_file is None:
        raise WrongUse(f"{where}, so --token-file is needed; without it, --host is 127.0.0.1")


def _announce(url: str) -> None:
    print("ready", url, flush=True)
