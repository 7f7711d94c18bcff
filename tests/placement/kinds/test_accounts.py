"""The accounts of operators in the files of kinds are those that the projects' own installations create."""

from pathlib import Path
from typing import Any, Final

import pytest

from tests.yaml_values import loaded
from tools.kinds import chart_name
from webhook.app.application_kinds import application_kinds

FACTS: Final[list[dict[str, Any]]] = loaded((Path(__file__).parent / "accounts.yaml").read_text())
KINDS: Final = {chart_name(kind): kind for kind in application_kinds().values()}
BY_KUBERNETES: Final = "Kubernetes' own controllers"


@pytest.mark.parametrize("name", KINDS)
def test_the_accounts_of_a_kind_are_those_of_its_project(name: str) -> None:
    stated = {one["name"].replace("RELEASE", one.get("release", "")) for one in FACTS if name in one["kinds"]}
    assert set(KINDS[name].accounts) == stated


@pytest.mark.parametrize("name", KINDS)
def test_the_docs_say_all_of_them(name: str) -> None:
    kind = KINDS[name]
    assert all(account in kind.creates for account in kind.accounts)
    assert kind.accounts or kind.creates.startswith((BY_KUBERNETES, "as for "))


def test_kinds_that_say_so_have_the_accounts_of_another_kind() -> None:
    for name, kind in KINDS.items():
        if kind.creates.startswith("as for "):
            other = kind.creates.removeprefix("as for ").partition(";")[0]
            assert KINDS[other].accounts, name
            assert kind.components_of == other
