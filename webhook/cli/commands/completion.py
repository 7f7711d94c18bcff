"""``completion``: prints the script by which a shell completes commands, flags and their values."""

import argparse
from typing import Final

from webhook.cli import Subparsers
from webhook.cli.arguments.command_help import HelpExample, declare
from webhook.cli.completion import SCRIPTS
from webhook.cli.exits import Exit

_DESCRIPTION: Final = (
    "Print the script of a shell that completes commands, flags, files and contexts of the kubeconfig. For kubectl it "
    "is an executable that completes 'kubectl streams-placement': put it on the PATH under the name "
    "kubectl_complete-streams_placement, unless pip has already installed it."
)

HELP_EXAMPLES: Final = (
    HelpExample("bash: now, and from ~/.bashrc always", "source <(streams-placement completion bash)"),
    HelpExample("zsh: now, and from ~/.zshrc, behind compinit, always", "source <(streams-placement completion zsh)"),
    HelpExample("fish: now, and from ~/.config/fish/config.fish always", "streams-placement completion fish | source"),
    HelpExample(
        "kubectl, where Krew has installed the plugin; then make the file executable",
        "streams-placement completion kubectl > kubectl_complete-streams_placement",
    ),
)
"""The examples of the help."""


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = declare(subparsers, "completion", _DESCRIPTION, HELP_EXAMPLES, settings=False)
    parser.add_argument("shell", choices=tuple(SCRIPTS), help="The shell, or kubectl.")


def run(arguments: argparse.Namespace) -> int:
    """Print the script."""
    print(SCRIPTS[arguments.shell].read_text(), end="")
    return Exit.OK
