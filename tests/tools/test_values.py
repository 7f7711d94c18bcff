"""The table of values in the chart's README is put in its place, and comments become those of helm-docs."""

import pytest

from tools.values import CHART, README, marked, with_table


def test_a_comment_above_a_value_gets_the_mark() -> None:
    assert marked("# The port.\nport: 1\ntls:\n  # Its name.\n  name: x\n") == (
        "# -- The port.\nport: 1\ntls:\n  # -- Its name.\n  name: x\n"
    )


def test_a_comment_above_a_group_counts_if_nothing_in_it_has_one() -> None:
    assert marked("# All of it.\nresources:\n  cpu: 1\n").startswith("# -- All")
    assert marked("# All of it.\nsettings:\n  # The mode.\n  mode: x\n") == (
        "# All of it.\nsettings:\n  # -- The mode.\n  mode: x\n"
    )


@pytest.mark.parametrize("text", ["# Alone.\n\nport: 1\n", "# Outside.\n  name: x\n", "name: x # beside\n"])
def test_another_comment_gets_none(text: str) -> None:
    assert marked(text) == text


def test_every_comment_of_the_values_is_one_above_a_value_or_a_group_with_others() -> None:
    values = (CHART / "values.yaml").read_text()
    groups = {"settings"}
    assert marked(values).count("# -- ") == values.count("# ") - len(groups)


def test_the_table_is_put_in_place_of_the_one_before() -> None:
    readme = "words\n\n| value | default | meaning |\n|---|---|---|\n| `a` | 1 | x |\n\nmore\n"
    assert with_table(readme, "| new |\n") == "words\n\n| new |\n\nmore\n"


def test_a_readme_without_a_table_is_wrong() -> None:
    with pytest.raises(ValueError, match="the README has no table"):
        with_table("words", "")


def test_the_readme_of_the_chart_has_one() -> None:
    assert with_table(README.read_text(), "| x |\n") != README.read_text()
