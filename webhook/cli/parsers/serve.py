"""The flags and the help of ``serve``."""

from typing import Final

from webhook.cli import HelpExample, Subparsers
from webhook.cli.declarations.command_help import declare
from webhook.cli.declarations.setting_flags import add_settings
from webhook.setting_fields import declared

_DESCRIPTION: Final = (
    "Answer admission reviews of the API server over HTTPS. Prints one line when ready: the URLs of reviews and of "
    "health checks. SIGTERM, SIGINT or SIGHUP: report unready immediately, answer for --drain more seconds, then "
    "stop; a second signal stops immediately."
)


HELP_EXAMPLES: Final = (
    HelpExample(
        "try it on a snapshot, with a certificate of its own and free ports",
        "streams-placement serve --snapshot examples/cluster --tls-self-signed --port 0 --health-port 0",
    ),
    HelpExample(
        "in a cluster, on all addresses",
        "streams-placement serve --host 0.0.0.0 --tls-cert tls.crt --tls-key tls.key",
        cluster=True,
    ),
)
"""The examples of the help."""


def add(subparsers: Subparsers) -> None:
    """Declare the command; it has a flag for every setting."""
    parser = declare(subparsers, "serve", _DESCRIPTION, HELP_EXAMPLES)
    add_settings(parser, declared())
