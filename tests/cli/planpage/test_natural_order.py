"""Names in the order in which people count."""

from webhook.placementreview.plans.natural_order import in_natural_order


def test_names_are_sorted_by_their_numbers() -> None:
    names = ["", "7", "pe", "pe-2", "pe-02", "pe-10", "pe-010", "pe-10-a", "pe-a", "q"]
    expected = ("", "7", "pe", "pe-02", "pe-2", "pe-010", "pe-10", "pe-10-a", "pe-a", "q")
    assert in_natural_order(reversed(names)) == expected


def test_names_of_many_digits_are_sorted() -> None:
    assert in_natural_order(["9" * 5_000, "1" + "0" * 5_000]) == ("9" * 5_000, "1" + "0" * 5_000)
