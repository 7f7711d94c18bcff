"""The flags and the help of ``hpa-api``."""

from typing import Final

from webhook.cli import HelpExample, Subparsers
from webhook.cli.declarations.command_help import declare
from webhook.cli.declarations.setting_flags import add_settings
from webhook.rest.rest_setting_fields import RestSettingFields

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
    add_settings(parser, _FLAGS, RestSettingFields)
