"""The pods: alike for everybody, and some of them like no other."""

import json

import pytest

from bench.e2e.clients import pods
from bench.e2e.clients.variants import ECHO, NONE, OTHER, OURS, VARIANTS
from webhook.placement.spl.placement import parse_placement
from webhook.placement.text import keys


@pytest.mark.parametrize("name", VARIANTS)
def test_pods_are_of_one_size(name: str) -> None:
    assert {len(pods.body(VARIANTS[name], number)) for number in (0, 1, 2, 3, 999)} == {pods.SIZE}


def test_variants_create_the_same_but_for_the_prefix_and_the_namespace() -> None:
    ours = pods.body(OURS, 7).decode().replace(OURS.namespace, NONE.namespace).replace(keys.PREFIX, OTHER)
    assert ours == pods.body(NONE, 7).decode()


def test_those_without_a_webhook_do_not_ask_for_hosts() -> None:
    assert keys.PREFIX not in pods.body(ECHO, 7).decode()


def test_no_two_pods_have_one_name() -> None:
    assert len({json.loads(pods.body(OURS, number))["metadata"]["name"] for number in range(500)}) == 500


@pytest.mark.parametrize("number", range(8))
def test_every_text_can_be_read(number: int) -> None:
    clauses, problems = parse_placement(pods.placement(number), keys.PLACEMENT)
    assert clauses
    assert not problems


def test_a_quarter_of_the_texts_is_like_no_other() -> None:
    texts = [pods.placement(number) for number in range(160)]
    assert sum(texts.count(text) == 1 for text in texts) == 40


def test_they_are_not_scheduled() -> None:
    assert json.loads(pods.body(OURS, 0))["spec"]["schedulerName"] == "nobody"
