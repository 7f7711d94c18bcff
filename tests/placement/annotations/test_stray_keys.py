"""Keys that mean nothing and were probably meant to be ours."""

import pytest

from webhook.placement.annotations.stray_keys import stray_keys
from webhook.placement.text import keys

NOTHING = "this key has no effect"
PLACEMENT = "metadata.annotations[streams.ibm.com/placement]"
JOB = "metadata.labels[streams.ibm.com/job]"

MISSPELT = {
    "a letter is missing": ("stream.ibm.com/placement", PLACEMENT),
    "the last letter is missing": ("streams.ibm.co/placement", PLACEMENT),
    "a dash for a dot": ("streams-ibm.com/placement", PLACEMENT),
    "two letters changed places": ("streams.imb.com/placement", PLACEMENT),
    "another ending": ("streams.ibm.io/placement", PLACEMENT),
    "capital letters": ("Streams.IBM.com/placement", PLACEMENT),
    "a dot for the stroke": ("streams.ibm.com.placement", PLACEMENT),
    "the name is misspelt as well": ("stream.ibm.com/placment", PLACEMENT),
    "a label's name": ("stream.ibm.com/job", JOB),
}


@pytest.mark.parametrize(("key", "meant"), MISSPELT.values(), ids=MISSPELT)
def test_what_was_meant_is_named_and_where_it_belongs(key: str, meant: str) -> None:
    sentence = f"{NOTHING}, did you mean {meant}?"
    assert list(stray_keys([key], [])) == [f"metadata.annotations[{key}]: {sentence}"]
    assert list(stray_keys([], [key])) == [f"metadata.labels[{key}]: {sentence}"]


@pytest.mark.parametrize("key", ["streams.ibm.com", "streams.ibm.com/", "stream.ibm.com", "stream.ibm.com/xyz"])
def test_without_a_name_like_ours_the_prefix_is_named(key: str) -> None:
    sentence = f"{NOTHING}, keys of this product begin with streams.ibm.com/"
    assert list(stray_keys([key], [])) == [f"metadata.annotations[{key}]: {sentence}"]


@pytest.mark.parametrize("key", sorted(keys.ANNOTATIONS - {keys.INJECTED}))
def test_a_label_that_is_an_annotation_of_ours_is_named(key: str) -> None:
    sentence = f"{NOTHING}, did you mean metadata.annotations[{key}]?"
    assert list(stray_keys([], [key])) == [f"metadata.labels[{key}]: {sentence}"]


def test_the_path_of_the_keys_and_that_of_the_pods_may_differ() -> None:
    found = stray_keys(["stream.ibm.com/placement"], [], place="metadata", pods="spec.template.metadata")
    sentence = f"{NOTHING}, did you mean spec.template.metadata.annotations[streams.ibm.com/placement]?"
    assert list(found) == [f"metadata.annotations[stream.ibm.com/placement]: {sentence}"]


OTHERS = (
    "app",
    "app.kubernetes.io/name",
    "eventstreams.ibm.com/cluster",
    "cloud.ibm.com/region",
    "hostpool.streams.ibm.com/ib",
    f"{keys.MEMBERSHIP}{keys.digest('x')}",
    f"{'x' * 250}/placement",
)


@pytest.mark.parametrize("key", [*OTHERS, "streams.ibm.com/placement", "streams.ibm.com/unknown"])
def test_other_peoples_annotations_and_our_own_are_left_alone(key: str) -> None:
    assert list(stray_keys([key], [])) == []


@pytest.mark.parametrize("key", [*OTHERS, keys.JOB, keys.PE, keys.WORKER, "streams.ibm.com/unknown"])
def test_other_peoples_labels_and_our_own_are_left_alone(key: str) -> None:
    assert list(stray_keys([], [key])) == []


def test_no_more_than_ten_are_named() -> None:
    assert len(list(stray_keys([f"stream.ibm.com/x{at}" for at in range(99)], []))) == 10
