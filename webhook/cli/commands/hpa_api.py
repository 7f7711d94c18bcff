"""``hpa-api``: runs EMCO's REST interface of HPA intents until a signal asks it to stop."""

import argparse

import uvloop

from webhook import app
from webhook.cli.arguments import given_settings
from webhook.cli.exits import Exit, WrongUse
from webhook.rest.access import listens_on_loopback
from webhook.rest.rest_settings import RestSettings
from webhook.server import logs


def run(arguments: argparse.Namespace) -> int:
    """Run the interface; returns when it has stopped."""
    settings = given_settings.read_as(arguments, RestSettings)
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
        raise WrongUse("--authorize needs an API server, and --store works without one: use --token-file")


def _check_exposure(settings: RestSettings) -> None:
    """Raise :class:`WrongUse` if the interface could be reached from other machines without TLS or without a token."""
    if (settings.tls_cert is None) != (settings.tls_key is None):
        raise WrongUse("--tls-cert and --tls-key belong together: give both or neither")
    if settings.client_ca is not None and settings.tls_cert is None:
        raise WrongUse("--client-ca asks clients for certificates, which requires TLS: add --tls-cert and --tls-key")
    if listens_on_loopback(settings.host):
        return
    where = f"{settings.host} can be reached from other machines"
    if settings.tls_cert is None:
        raise WrongUse(f"{where}, so --tls-cert and --tls-key are needed; without them, --host is 127.0.0.1")
    if settings.store is not None and settings.token_file is None:
        raise WrongUse(f"{where}, so --token-file is needed; without it, --host is 127.0.0.1")


def _announce(url: str) -> None:
    print("ready", url, flush=True)
