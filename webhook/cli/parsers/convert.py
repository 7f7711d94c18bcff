"""The flags and the help of ``convert``."""

from typing import Final

from webhook.cli import HelpExample, Subparsers
from webhook.cli.declarations.command_help import declare
from webhook.cli.declarations.setting_flags import add_settings
from webhook.cli.terminal.output import add_output
from webhook.convert.input_kind import InputKind

_DESCRIPTION: Final = (
    "Convert SPL programs, ADL and application bundles (.sab) of Streams with their job configuration overlays, "
    "Twister2 configurations and EMCO hardware intents into manifests: Jobs, HostPools, workloads, HPAIntents. What a "
    "manifest cannot express is printed on standard error, line by line: 'error' for an invalid input, 'lost' for a "
    "demand that is left out, 'note' for what you should check. With an error, or with a lost demand and without "
    "--partial, no manifest is written."
)


FLAGS: Final = ("snapshot", "context")


_EXITS: Final = "Exit codes: 0 done, 1 refused or lost demands, 2 usage error, 3 failure."


HELP_EXAMPLES: Final = (
    HelpExample("manifests of an SPL program", "streams-placement convert examples/convert/isolation.spl"),
    HelpExample(
        "applied at once",
        "streams-placement convert examples/convert/isolation.spl -n team-a | kubectl apply -f -",
        cluster=True,
    ),
    HelpExample("a program with the files that it uses", "streams-placement convert -f examples/convert/toolkit"),
    HelpExample(
        "processing elements, fused for the nodes of a cluster",
        "streams-placement convert examples/convert/toolkit --fused --snapshot examples/cluster",
    ),
)
"""The examples of the help."""


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = declare(subparsers, "convert", _DESCRIPTION, HELP_EXAMPLES, exits=_EXITS)
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="Files to convert, folders of SPL programs, which are read together, or - for standard input.",
    )
    parser.add_argument("-f", "--filename", nargs="+", action="extend", default=[], metavar="FILE", help="As FILE.")
    parser.add_argument(
        "--from",
        dest="kind",
        choices=[kind.value for kind in InputKind],
        help="Kind of all files (default: detected from the content of each).",
    )
    parser.add_argument(
        "--onto",
        nargs="+",
        action="extend",
        metavar="MANIFEST",
        help="Add annotations to the pods and workloads of these manifests, instead of creating Jobs, workloads and "
        "HPAIntents.",
    )
    parser.add_argument("--name", metavar="NAME", help="Name of the Job or workload (default: made of the input's).")
    parser.add_argument("-n", "--namespace", metavar="NAME", help="Namespace of what is made (default: none stated).")
    parser.add_argument("--partial", action="store_true", help="Write manifests even if demands are lost.")
    parser.add_argument(
        "--fused",
        action="store_true",
        help="Fuse the operators of Jobs for the cluster of --snapshot or --context, and write processing elements.",
    )
    add_output(parser, forms=("yaml", "json"))
    add_settings(parser, FLAGS)
