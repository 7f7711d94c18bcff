"""Second opinions about texts, by the packages of the API server and of Go (``tests/e2e/go/kubernetes``).

The program answers a line with a line. Without it, in the replay of inputs, there is no second opinion.
"""

import atexit
import json
import re
import subprocess
from pathlib import Path
from typing import IO, Any, Final

from tests.fuzz.oracles import is_unicode

_LONG_EXPONENT: Final = re.compile(r"[eE][+-]?0*[1-9][0-9]{3}")
"""An amount whose decimal digits would fill memory."""

_process: "list[subprocess.Popen[bytes]]" = []


def begin(program: Path) -> None:
    """Start the program; it ends with this process."""
    started = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603 -- our own program
    _process.append(started)
    atexit.register(end)


def end() -> None:
    """End the program."""
    while _process:
        with _process.pop() as ended:
            ended.terminate()


def opinion(question: str, *texts: str) -> list[Any] | None:
    """``[False]`` if the texts are refused, else ``[True, ...]`` with what was read; ``None`` if nobody was asked."""
    if not _process or not all(map(is_unicode, texts)) or any(map(_LONG_EXPONENT.search, texts)):
        return None
    questions, answers = _pipes(_process[0])
    questions.write(json.dumps([question, *texts]).encode() + b"\n")
    questions.flush()
    answer: list[Any] = json.loads(answers.readline())
    assert answer[0] is not None, f"{question} {texts}: {answer[1]}"
    return answer


def _pipes(process: "subprocess.Popen[bytes]") -> tuple[IO[bytes], IO[bytes]]:
    assert process.stdin, "a pipe"
    assert process.stdout, "a pipe"
    return process.stdin, process.stdout
