"""The first screen of the README shows a refusal, and a pod before and after admission as the examples have them."""

import re
from typing import Final

from tests.docs.pages import ROOT
from tests.docs.test_fragments import part_of
from tests.yaml_values import loaded

README: Final = (ROOT / "README.md").read_text()
SCREEN: Final = 40
"""Lines of a terminal, or of a page at GitHub, before anybody scrolls."""

(BLOCK,) = re.findall(r"^```yaml\n(# before .*?)^```$", README, re.MULTILINE | re.DOTALL)
SPLIT: Final = BLOCK.index("# after")


def column(part: slice) -> object:
    return loaded("\n".join(line[part] for line in BLOCK.splitlines()))


def test_the_refusal_stands_on_the_first_screen_and_is_run() -> None:
    first = "\n".join(README.splitlines()[:SCREEN])
    (shown,) = re.findall(r"^```sh\n(.*?)^```$", first, re.MULTILINE | re.DOTALL)
    assert shown.startswith("$ streams-placement explain ")
    assert "cannot all hold" in shown
    assert "Nearest fix: " in shown


def test_the_pod_before_and_after_is_that_of_the_example() -> None:
    before = loaded((ROOT / "examples" / "pool-tagged.yaml").read_text())
    after = loaded((ROOT / "examples" / "pool-tagged.expected.yaml").read_text())
    for part, whole in ((slice(0, SPLIT), before), (slice(SPLIT, None), after["admitted"])):
        shown = column(part)
        containers = shown["spec"].pop("containers")  # type: ignore[index]
        assert part_of(shown, whole)
        assert [each["name"] for each in containers] == [each["name"] for each in whole["spec"]["containers"]]
