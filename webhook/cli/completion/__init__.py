"""Completion of commands, flags and their values in bash, zsh, fish and kubectl.

``main`` answers one question of a shell: the executable ``kubectl_complete-streams_placement`` calls it, and so does
``streams-placement __complete``, which the scripts beside this file call. ``candidates`` finds the answer in the
parser of the command (``command_entry``), or in the kubeconfig.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from webhook.cli.completion.candidates import candidates_of
from webhook.cli.exits import Exit

SCRIPTS: Final = {
    "bash": Path(__file__).with_name("completion.bash"),
    "zsh": Path(__file__).with_name("completion.zsh"),
    "fish": Path(__file__).with_name("completion.fish"),
    "kubectl": Path(__file__).with_name("kubectl_complete.sh"),
}
"""The scripts by the names of the shells."""


def main(words: Sequence[str] | None = None) -> int:
    """Print what the last of the words may become, a word and its description a line, and the directive last."""
    candidates = candidates_of(sys.argv[1:] if words is None else words)
    for each in candidates.words:
        print(f"{each.word}\t{each.description}" if each.description else each.word)
    print(f":{candidates.directive:d}")
    return Exit.OK
