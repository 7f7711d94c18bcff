"""The README of the chart lists its values as helm-docs finds them."""

from tests.e2e.programs.binaries import helm_docs
from tools.values import README, table, with_table


def test_the_table_of_values_is_that_of_helm_docs() -> None:
    readme = README.read_text()
    assert readme == with_table(readme, table(helm_docs())), "run make values"
