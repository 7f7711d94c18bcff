"""The flags and the help of ``completion``."""

from typing import Final

from webhook.cli import HelpExample, Subparsers
from webhook.cli.completion import SCRIPTS
from webhook.cli.declarations.command_help import declare

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
