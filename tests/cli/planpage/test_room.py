"""Amounts of resources beside what a node offers, in one unit."""

import pytest

from webhook.cli.planpage.room import in_unit_of, room


@pytest.mark.parametrize(
    ("free", "offers", "expected"),
    [
        ("7800m", "8", "7.8 of 8"),
        ("8", "8", "8 of 8"),
        ("50m", "250m", "0.05 of 0.25"),
        ("0", "8", "0 of 8"),
        ("-500m", "4", "-0.5 of 4"),
        ("109", "110", "109 of 110"),
        ("32640Mi", "32Gi", "31.875Gi of 32Gi"),
        ("15795268Ki", "15926340Ki", "15.063Gi of 15.188Gi"),
        ("512Mi", "1000Mi", "512Mi of 1000Mi"),
        ("0", "32Gi", "0 of 32Gi"),
        ("1", "0", "1 of 0"),
        ("3Ti", "4Ti", "3Ti of 4Ti"),
        ("<b>", "8", "<b> of 8"),
        ("8", "</script>", "8 of </script>"),
    ],
)
def test_a_pair_has_one_unit(free: str, offers: str, expected: str) -> None:
    assert room(free, offers) == expected


def test_all_amounts_of_a_node_have_the_unit_of_what_it_offers() -> None:
    assert in_unit_of("32Gi", ("32Gi", "8Gi", "128Mi", "0")) == ("32Gi", "8Gi", "0.125Gi", "0")
