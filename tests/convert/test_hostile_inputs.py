"""Whatever an input is, a conversion ends with manifests or with sentences, and in little time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.convert.adl_documents import adl, bundle, operator
from tests.convert.converted_texts import converted
from tests.golden.conversions import inputs
from tests.suite.example_count import EVERY_DAY
from tests.work import Work, excess
from webhook.convert.input_kind import InputKind
from webhook.convert.source_text import TEXT_LIMIT

PART = 8 if EVERY_DAY else 1
"""An eighth of each input every day, of which an eighth of the work is allowed; all of it at night."""

LONG = "+".join(['"a"'] * (50_000 // PART))
SEEDS = [path.read_bytes() for path in inputs()] + [bundle(adl(operator())), adl(operator()).encode()]
PIECES = st.one_of(
    st.binary(max_size=6), st.sampled_from([b"{", b"}", b'"', b"'", b"/*", b"<", b"&", b"\0", b"\xff", b": "])
)


def is_said(text: bytes, kind: InputKind) -> None:
    """The conversion has manifests or problems, and every sentence of it can be printed."""
    found = converted(text, kind)
    assert not (found.manifests and found.problems)
    for problem in found.problems:
        assert (problem.field and problem.message).encode()
        assert problem.offset is None or 0 <= problem.offset <= len(problem.text)
    for remark in found.remarks:
        assert str(remark).encode("utf-8", "surrogatepass")


@given(st.binary(max_size=300), st.sampled_from(InputKind))
def test_bytes_of_any_kind_are_answered(content: bytes, kind: InputKind) -> None:
    is_said(content, kind)


@given(st.text(max_size=200), st.sampled_from(InputKind))
def test_texts_of_any_kind_are_answered(text: str, kind: InputKind) -> None:
    is_said(text.encode("utf-8", "surrogatepass"), kind)


@given(st.sampled_from(SEEDS), st.data(), st.sampled_from(InputKind))
def test_inputs_that_are_damaged_are_answered(seed: bytes, data: st.DataObject, kind: InputKind) -> None:
    at = data.draw(st.integers(0, len(seed)))
    upto = data.draw(st.integers(at, min(len(seed), at + 20)))
    is_said(seed[:at] + data.draw(PIECES) + seed[upto:], kind)


@pytest.mark.examples
@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("config placement: host(P);\n" * (8000 // PART), "spl"),
        ("composite A { graph " + ";" * (200_000 // PART) + "}", "spl"),
        ("@a(b) " * (30_000 // PART), "spl"),
        ("'" * (200_000 // PART), "spl"),
        ("/*" * (100_000 // PART), "spl"),
        (f"composite A {{ graph stream<i> X = B() {{ config placement: hostColocation({LONG}); }} }}", "spl"),
        ("projects/" * (20_000 // PART) + "\nPOST:\n", "emco"),
        ("POST:\n" * (30_000 // PART), "emco"),
        ("kubernetes.a=" + "\\" * (200_000 // PART), "twister2"),
        (adl("<x>" * (100_000 // PART)), "adl"),
        (adl(operator(), '<hostpool name="P" index="0"/>' * (5000 // PART)), "adl"),
    ],
)  # fmt: skip
def test_inputs_that_are_made_to_take_long_do_not(text: str, kind: str) -> None:
    """A quadratic step would take minutes for these."""
    assert len(text) < TEXT_LIMIT
    assert not excess(lambda: converted(text, kind), Work(5_000_000 // PART, 1 / PART))
