"""What the annotations of worker mapping say, and everything that is wrong with them."""

import pytest

from tests.placement.mapping_annotations import mapping, path
from webhook.placement.annotations.worker_mapping import NOTHING, WorkerMapping, read_mapping
from webhook.placement.kube.pod import Requirement
from webhook.placement.text import keys
from webhook.placement.text.problem import render


def read(annotations: dict[str, str]) -> WorkerMapping:
    found = read_mapping(annotations)
    assert not found.problems, render(found.problems)
    return found


def needs(annotations: dict[str, str]) -> list[Requirement]:
    return [expression.need for expression in read(annotations).expressions]


def problems(annotations: dict[str, str]) -> list[str]:
    return [f"{problem.field}: {problem.message}" for problem in read_mapping(annotations).problems]


KEY, OPERATOR, VALUES = path(keys.MAPPING_KEY), path(keys.MAPPING_OPERATOR), path(keys.MAPPING_VALUES)
LIST = path(keys.MAPPING)
MISSING_KEY = "missing: worker mapping needs the key of a node label, such as kubernetes.io/hostname"
MISSING_OPERATOR = "missing: worker mapping needs an operator, one of In, NotIn, Exists, DoesNotExist, Gt, Lt"
NO_KEY = "is not a label key such as kubernetes.io/hostname or disktype"
NO_VALUE = "is not a label value: at most 63 letters, digits, '-', '_' or '.', with a letter or digit at both ends"


def test_a_pod_that_says_nothing_maps_nothing() -> None:
    assert read_mapping({keys.PLACEMENT: "hostIsolation"}) is NOTHING


SPELT = {
    "a YAML list": "['node03', \"node04\", node05]",
    "a JSON list": '["node03","node04","node05"]',
    "a block list": "- node03\n- node04\n- node05\n",
    "a block list that begins below": "-\n  node03\n- node04\n- node05\n",
    "separated by commas": " node03 , node04,node05 ",
}


@pytest.mark.parametrize("values", SPELT.values(), ids=SPELT.keys())
def test_values_are_a_list_or_separated_by_commas(values: str) -> None:
    expected = Requirement("kubernetes.io/hostname", "In", ("node03", "node04", "node05"))
    assert needs(mapping("kubernetes.io/hostname", "In", values)) == [expected]


OPERATORS = {
    "In": ("[gpu]", ("gpu",), "extra-hardware In [gpu]"),
    "NotIn": ("[gpu, '']", ("gpu", ""), "extra-hardware NotIn [gpu, ]"),
    "Exists": (None, None, "extra-hardware Exists"),
    "DoesNotExist": ("[]", None, "extra-hardware DoesNotExist"),
    "Gt": ("8", ("8",), "extra-hardware Gt 8"),
    "Lt": ("[8]", ("8",), "extra-hardware Lt 8"),
}


@pytest.mark.parametrize(("operator", "said"), OPERATORS.items(), ids=OPERATORS.keys())
def test_there_are_six_operators(operator: str, said: tuple[str | None, tuple[str, ...] | None, str]) -> None:
    values, expected, words = said
    (found,) = read(mapping("extra-hardware", operator, values)).expressions
    assert (found.need, found.clause.text) == (Requirement("extra-hardware", operator, expected), f"mapping {words}")


LISTS = {
    "flow": "[{key: disktype, operator: In, values: [ssd]}, {key: cores, operator: Gt, values: [8]}]",
    "blocks": "- key: disktype\n  operator: In\n  values:\n  - ssd\n- key: cores\n  operator: Gt\n  values: [8]\n",
    "JSON": '[{"key":"disktype","operator":"In","values":["ssd"]},{"key":"cores","operator":"Gt","values":["8"]}]',
    "the same twice": "[&]".replace(
        "&", ", ".join(["{key: disktype, operator: In, values: [ssd]}", "{key: cores, operator: Gt, values: [8]}"] * 2)
    ),
}
SSD, CORES = Requirement("disktype", "In", ("ssd",)), Requirement("cores", "Gt", ("8",))


@pytest.mark.parametrize("listed", LISTS.values(), ids=LISTS.keys())
def test_a_list_holds_several_expressions(listed: str) -> None:
    assert needs(mapping(listed=listed)) == [SSD, CORES]


def test_the_one_expression_and_the_list_go_together() -> None:
    listed = "[{key: gpu, operator: Exists, values: null}]"
    assert needs(mapping("cores", "Gt", "8", listed=listed)) == [CORES, Requirement("gpu", "Exists")]


OFF = "no effect: streams.ibm.com/kubernetes.worker.to.node.mapping is not true"


@pytest.mark.parametrize("on", [None, "false"], ids=["absent", "false"])
def test_without_mapping_the_expression_is_ignored_with_a_warning(on: str | None) -> None:
    found = read(mapping("cores", "is", on=on))
    assert (found.expressions, found.warnings) == (
        (),
        (f"kubernetes.worker.mapping.key and kubernetes.worker.mapping.operator have {OFF}",),
    )


def test_one_that_is_ignored_is_named_alone() -> None:
    assert read(mapping(listed="[", on=None)).warnings == (f"kubernetes.worker.mapping has {OFF}",)


def test_a_warning_about_all_of_them_is_not_cut() -> None:
    (found,) = read(mapping("cores", "is", "x", listed="[", on="false")).warnings
    assert len(found) <= 250


def test_mapping_that_is_off_and_empty_does_not_matter() -> None:
    assert read(mapping(on="false")) == WorkerMapping()


REFUSED = {
    "neither on nor off": (
        mapping("a", "Exists", on="True"),
        [f'{path(keys.MAPPED)}: "True" is neither true nor false'],
    ),
    "on, and nothing else": (mapping(), [f"{KEY}: {MISSING_KEY}", f"{OPERATOR}: {MISSING_OPERATOR}"]),
    "everything at once": (
        mapping("two words", "in", "[a b", on="yes", listed="[") | {keys.UNIFORM: "same", keys.RUN_WITH: ""},
        [
            f'{path(keys.MAPPED)}: "yes" is neither true nor false',
            f'{KEY}: "two words" {NO_KEY}',
            f'{OPERATOR}: unknown operator "in" (did you mean In?)',
            f"{VALUES}: this is not YAML: did not find expected ',' or ']'",
            f"{LIST}: this is not YAML: did not find expected node content",
            f'{path(keys.UNIFORM)}: unknown uniform mapping "same": use one of all-same-node, all-separate-nodes, none',
            f"{path(keys.RUN_WITH)}: selects every pod: name the labels of those that are meant, such as app=database",
        ],
    ),
    "a key without an operator": (mapping("cores"), [f"{OPERATOR}: {MISSING_OPERATOR}"]),
    "values without a key": (mapping(None, "In", "x"), [f"{KEY}: {MISSING_KEY}"]),
    "an operator of another world": (
        mapping("cores", ">=", "8"),
        [f'{OPERATOR}: unknown operator ">=": use one of In, NotIn, Exists, DoesNotExist, Gt, Lt'],
    ),
    "no value": (mapping("a", "NotIn"), [f"{VALUES}: NotIn needs at least one value, found none"]),
    "an empty list of values": (mapping("a", "In", "[]"), [f"{VALUES}: In needs at least one value, found none"]),
    "a value too many": (mapping("a", "Exists", "true"), [f'{VALUES}: Exists takes no values, found "true"']),
    "many values too many": (
        mapping("a", "DoesNotExist", "b,c,d,e,f,g"),
        [f'{VALUES}: DoesNotExist takes no values, found "b", "c", "d", "e" and 2 more'],
    ),
    "no number": (mapping("a", "Gt", "8k"), [f'{VALUES}: Gt needs exactly one 64-bit integer, found "8k"']),
    "a number of 65 bits": (
        mapping("a", "Gt", "9223372036854775808"),
        [f'{VALUES}: Gt needs exactly one 64-bit integer, found "9223372036854775808"'],
    ),
    "two numbers": (
        mapping("a", "Lt", "8,9"),
        [f'{VALUES}: Lt needs exactly one 64-bit integer, found "8", "9"'],
    ),
    "a number that no label can be": (mapping("a", "Gt", "-1"), [f'{VALUES}: "-1" {NO_VALUE}']),
    "no label value": (
        mapping("a", "In", "x y,\u2018gpu\u2019,x y"),
        [f'{VALUES}: "x y" {NO_VALUE}', rf'{VALUES}: "\u2018gpu\u2019" {NO_VALUE}'],
    ),
    "an empty value between commas": (
        mapping("a", "In", "x,"),
        [f'{VALUES}: an item is missing before or after a comma; write an empty value as [""]'],
    ),
    "values that are no list": (
        mapping("a", "In", "{b: c}"),
        [f"{VALUES}: must be a list of words, such as [ssd, nvme]"],
    ),
    "lists of values": (mapping("a", "In", "[b, [c]]"), [f"{VALUES}: must be a list of words, such as [ssd, nvme]"]),
    "no name in the key": (mapping("example.com/", "Exists"), [f'{KEY}: "example.com/" {NO_KEY}']),
    "no domain in the key": (mapping("a_b/c", "Exists"), [f'{KEY}: "a_b/c" {NO_KEY}']),
    "an empty domain": (mapping("/c", "Exists"), [f'{KEY}: "/c" {NO_KEY}']),
    "an empty key": (mapping("", "Exists"), [f'{KEY}: "" {NO_KEY}']),
    "no list": (
        mapping(listed="key: a"),
        [f"{LIST}: must be a list of expressions, such as [{{key: disktype, operator: In, values: [ssd]}}]"],
    ),
    "an empty list": (
        mapping(listed="[]"),
        [f"{LIST}: must be a list of expressions, such as [{{key: disktype, operator: In, values: [ssd]}}]"],
    ),
    "all items of a list": (
        mapping(
            listed="[a, {key: b, op: In}, {key: [c]}, {operator: {d: e}}, {key: f}, {key: g, operator: In, values: h}]"
        ),
        [
            f"{LIST}[0]: must be an expression, such as {{key: disktype, operator: In, values: [ssd]}}",
            f'{LIST}[1]: unknown field "op": use one of key, operator, values',
            f"{LIST}[2].key: must be one word",
            f"{LIST}[3].operator: must be one word",
            f"{LIST}[4].operator: {MISSING_OPERATOR}",
            f"{LIST}[5].values: must be a list of words, such as [ssd, nvme]",
        ],
    ),
    "too many expressions": (
        mapping(listed=f"[{'{key: a, operator: Exists}, ' * 65}]"),
        [f"{LIST}: has 65 expressions, at most 64 are allowed"],
    ),
    "too long": (
        mapping("a" * 8193, "Exists", on=None),
        [f"{KEY}: the text has 8193 bytes, at most 8192 are allowed"],
    ),
    "a misspelt uniform mapping": (
        {keys.UNIFORM: "all-seperate-nodes"},
        [f'{path(keys.UNIFORM)}: unknown uniform mapping "all-seperate-nodes" (did you mean all-separate-nodes?)'],
    ),
    "an empty uniform mapping": (
        {keys.UNIFORM: ""},
        [f'{path(keys.UNIFORM)}: unknown uniform mapping "": use one of all-same-node, all-separate-nodes, none'],
    ),
}


@pytest.mark.parametrize(("annotations", "expected"), REFUSED.values(), ids=REFUSED.keys())
def test_all_that_is_wrong_is_said_at_once(annotations: dict[str, str], expected: list[str]) -> None:
    assert problems(annotations) == expected


def test_a_list_shows_the_first_ten_problems() -> None:
    assert len(problems(mapping(listed=f"[{'{key: a}, ' * 20}]"))) == 10


def test_an_item_shows_the_first_ten_fields_that_there_are_not() -> None:
    fields = ", ".join(f"x{at}: y" for at in range(20))
    assert len(problems(mapping(listed=f"[{{{fields}}}]"))) == 10


@pytest.mark.parametrize("uniform", ["all-same-node", "all-separate-nodes", "none"])
def test_uniform_mapping_needs_no_other(uniform: str) -> None:
    assert read({keys.UNIFORM: uniform}).uniform == uniform


def test_what_templates_repeat_is_read_once() -> None:
    assert read(mapping("a", "Exists")) is read(mapping("a", "Exists"))


def test_of_long_texts_the_last_one_is_kept() -> None:
    values = ",".join(f"node-{at}" for at in range(200))
    first, again, other, last = (read(mapping(key, "In", values)) for key in ("a", "a", "b", "a"))
    assert first is again
    assert first == last
    assert first is not last
    assert other != first
