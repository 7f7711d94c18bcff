"""Which values a label of a new node may have, and how requirements narrow them."""

import pytest

from webhook.placement.nodegroups.label_values import ABSENT, ANYTHING, LabelValues

LISTED = LabelValues.one_of("hdd", "ssd")
CORES = LabelValues.one_of("4", "8", "16", "many")


def cores(*bounds: tuple[str, str]) -> LabelValues:
    """Any number of cores within the bounds."""
    values = ANYTHING
    for operator, bound in bounds:
        values = values.narrowed(operator, (bound,))
    return values


@pytest.mark.parametrize(
    ("values", "operator", "asked", "said"),
    [
        pytest.param(LISTED, "In", ("ssd", "nvme"), "ssd", id="In keeps the values that both list"),
        pytest.param(LISTED, "NotIn", ("ssd",), "hdd", id="NotIn takes values from a list"),
        pytest.param(ANYTHING, "NotIn", ("ssd",), "any value but ssd", id="NotIn leaves all others"),
        pytest.param(ANYTHING.narrowed("NotIn", ("ssd",)), "In", ("ssd", "hdd"), "hdd", id="In keeps to NotIn"),
        pytest.param(LISTED, "Exists", (), "hdd, ssd", id="Exists changes no list"),
        pytest.param(LISTED, "DoesNotExist", (), "no value", id="DoesNotExist leaves no value"),
        pytest.param(CORES, "Gt", ("4",), "16, 8", id="Gt keeps larger numbers"),
        pytest.param(CORES, "Gte", ("8",), "16, 8", id="Gte keeps the bound, too"),
        pytest.param(CORES, "Lt", ("8",), "4", id="Lt keeps smaller numbers"),
        pytest.param(CORES, "Lte", ("8",), "4, 8", id="Lte keeps the bound, too"),
        pytest.param(ANYTHING, "Gt", ("4",), "5 or more", id="Gt alone"),
        pytest.param(ANYTHING, "Lt", ("4",), "3 or less", id="Lt alone"),
        pytest.param(cores(("Gt", "4")), "Lt", ("9",), "5 to 8", id="between two bounds"),
        pytest.param(cores(("Gt", "4"), ("Lt", "20")), "Gt", ("2",), "5 to 19", id="a weaker lower bound"),
        pytest.param(cores(("Gt", "4"), ("Lt", "20")), "Lt", ("30",), "5 to 19", id="a weaker upper bound"),
        pytest.param(cores(("Gt", "4")), "In", ("4", "5", "x"), "5", id="In keeps to a bound"),
        pytest.param(cores(("Lt", "4")), "In", ("4", "3"), "3", id="In keeps to an upper bound"),
        pytest.param(ANYTHING, "Gt", ("many",), "no value", id="Gt of no number"),
        pytest.param(ANYTHING, "Gt", (), "no value", id="Gt of nothing"),
        pytest.param(ANYTHING, "Like", ("x",), "no value", id="an unknown operator"),
        pytest.param(LabelValues.one_of(*"abcde"), "Exists", (), "a, b, c and 2 more", id="many values"),
    ],
)
def test_a_requirement_narrows_the_values(
    values: LabelValues, operator: str, asked: tuple[str, ...], said: str
) -> None:
    """What is left are the values that meet both."""
    assert str(values.narrowed(operator, asked)) == said


@pytest.mark.parametrize(
    ("values", "possible"),
    [
        pytest.param(ABSENT, True, id="absent"),
        pytest.param(ABSENT.narrowed("Exists", ()), False, id="absent and there"),
        pytest.param(LISTED.narrowed("DoesNotExist", ()), False, id="there and absent"),
        pytest.param(ANYTHING.narrowed("NotIn", ("a",)).narrowed("DoesNotExist", ()), True, id="absent is not a"),
        pytest.param(LISTED.narrowed("In", ("nvme",)), False, id="two lists without a common value"),
        pytest.param(ANYTHING.narrowed("Exists", ()), True, id="any value"),
        pytest.param(
            cores(("Gte", "-9"), ("Lte", f"{2**63 - 1}")).narrowed("NotIn", ("x",)),
            True,
            id="more numbers than Python counts",
        ),
        pytest.param(cores(("Gt", "4"), ("Lt", "6")).narrowed("NotIn", ("05",)), True, id="05 is not the label 5"),
        pytest.param(cores(("Gt", "4")), True, id="a lower bound"),
        pytest.param(cores(("Lt", "4")), True, id="an upper bound"),
        pytest.param(cores(("Gt", "4"), ("Lt", "6")), True, id="one number between bounds"),
        pytest.param(cores(("Gt", "4"), ("Lt", "5")), False, id="no number between bounds"),
        pytest.param(cores(("Gt", "4"), ("Lt", "6"), ("NotIn", "5")), False, id="the one number is denied"),
        pytest.param(cores(("Gt", "4"), ("Lt", "6"), ("NotIn", "x")), True, id="a denied text is no number"),
        pytest.param(ANYTHING.narrowed("In", ("a", "b"), 2), True, id="enough values to choose from"),
        pytest.param(ANYTHING.narrowed("In", ("a", "b"), 2).narrowed("In", ("a",)), False, id="minValues of one value"),
        pytest.param(ANYTHING.narrowed("Exists", (), 9), True, id="minValues of values that are not known"),
    ],
)
def test_whether_a_label_can_have_a_value(values: LabelValues, *, possible: bool) -> None:
    """A label that may be missing is no obstacle; else a value must be left."""
    assert values.possible is possible


@pytest.mark.parametrize(
    ("values", "choice"),
    [
        pytest.param(LISTED, "hdd", id="the first of a list"),
        pytest.param(ABSENT, None, id="absent"),
        pytest.param(ANYTHING, "any", id="any"),
        pytest.param(ANYTHING.narrowed("NotIn", ("any", "any-")), "any--", id="a value that is not denied"),
        pytest.param(cores(("Gt", "4"), ("NotIn", "5")), "6", id="the first number that is not denied"),
        pytest.param(cores(("Lt", "4"), ("NotIn", "3")), "2", id="the last number that is not denied"),
    ],
)
def test_a_new_node_has_one_of_the_values(values: LabelValues, choice: str | None) -> None:
    """The choice is one of the values, and always the same one."""
    assert values.choice() == choice


@pytest.mark.parametrize(
    ("values", "largest"),
    [
        pytest.param(CORES, 16, id="of a list"),
        pytest.param(cores(("Lt", "17")), 16, id="by a bound"),
        pytest.param(LISTED, None, id="no numbers"),
        pytest.param(ANYTHING, None, id="no bound"),
    ],
)
def test_the_largest_number_that_a_label_may_have(values: LabelValues, largest: int | None) -> None:
    """Labels that are the size of a machine bound what it has to give."""
    assert values.largest == largest
