"""Compiled descriptions of Streams applications (ADL) become Jobs."""

from typing import Any

import pytest

from tests.convert.adl_documents import NAMESPACE, adl, operator
from tests.convert.converted_texts import converted, refusals, remarks
from webhook.convert.adl import application, reading

POOL = '<poolLocation poolIndex="0"/>'


def job(text: str) -> dict[str, Any]:
    """The spec of the only Job."""
    found = converted(text, "adl")
    assert found.problems == ()
    (manifest,) = found.manifests
    spec: dict[str, Any] = manifest["spec"]
    return spec


def placements(text: str) -> dict[str, str | None]:
    """The operators of the only Job, with their placement."""
    return {one["name"]: one.get("placement") for one in job(text)["operators"]}


def test_an_application_is_a_job() -> None:
    (manifest,) = converted(adl(operator()), "adl").manifests
    assert manifest == {
        "apiVersion": "streams.ibm.com/v1",
        "kind": "Job",
        "metadata": {"name": "main"},
        "spec": {
            "bundle": {"name": "apps.Main.sab"},
            "operators": [{"name": "A"}],
        },
    }


def test_an_application_without_a_bundle_has_one_of_its_name() -> None:
    assert job(adl(operator()).replace('bundle="./apps.Main.sab"', ""))["bundle"] == {"name": "apps.Main.sab"}


def test_pools_are_found_by_their_index() -> None:
    pools = (
        '<hostpool index="0" name="$default" membershipMode="shared"/>'
        '<hostpool index="1" name="P" size="3" membershipMode="exclusive"><tag name="ib"/><tag name="blue"/></hostpool>'
        '<hostpool index="2" name="L" size="2"><host hostname="a"/><host hostname="b"/></hostpool>'
    )
    graph = (
        operator("A", f"<resources>{POOL}</resources>")
        + operator("B", '<resources><poolLocation poolIndex="1"/></resources>', 1)
        + operator("C", '<resources><poolLocation poolIndex="2" inpoolIndex="1"/></resources>', 2)
    )
    assert placements(adl(graph, pools)) == {"A": None, "B": "host(P)", "C": "host(L[1])"}
    assert job(adl(graph, pools))["hostPools"] == [
        {"name": "P", "size": 3, "tags": ["ib", "blue"], "mode": "Exclusive"},
        {"name": "L", "hosts": ["a", "b"]},
    ]


def test_all_constraints_of_an_operator_are_read() -> None:
    resources = (
        '<resources isolation="true"><hostLocation hostname="10.1.2.3"/><exLocation exlocId="e"/>'
        '<exLocation exlocId="f"/></resources>'
    )
    partitions = '<partitions isolation="true"><exLocation exlocId="p"/></partitions>'
    graph = operator("A", resources, partitions=partitions, attributes='restartable="false"')
    clauses = 'hostIsolation, host("10.1.2.3"), hostExlocation("e"), hostExlocation("f"), partitionIsolation, '
    assert job(adl(graph))["operators"] == [
        {"name": "A", "placement": f'{clauses}partitionExlocation("p")', "restartable": False}
    ]


def test_partitions_are_fusion() -> None:
    partitions = '<partitions><coLocation colocId="x"/></partitions>'
    graph = (
        operator("A", partitions=partitions) + operator("B", index=1) + operator("C", index=2, partitions=partitions)
    )
    together = 'partitionColocation("x")'
    assert placements(adl(graph)) == {"A": together, "B": None, "C": together}


def test_locations_elsewhere_are_passed_over() -> None:
    assert placements(adl(f'<coLocation colocId="x"/>{operator()}<other><coLocation colocId="y"/></other>')) == {
        "A": None
    }
    outside = '<resources isolation="true"><hostLocation hostname="a"/><poolLocation poolIndex="7"/></resources>'
    outside += '<parallelOperator operIndex="0"/>'
    assert placements(adl(f'{outside}<host hostname="b"/><tag name="c"/>{operator()}')) == {"A": None}


REGION = '<parallelRegion index="0" name="R"><parallelOperator operIndex="{0}"/><parallelWidth>{1}</parallelWidth>'
CLOSE = "</parallelRegion>"


def regions(*found: tuple[int, str]) -> str:
    """Parallel regions with the index of their operator and the elements of their width."""
    return f"<parallelRegions>{''.join(REGION.format(*one) + CLOSE for one in found)}</parallelRegions>"


def test_channels_of_regions_are_operators() -> None:
    inner = operator("R.A", '<resources><coLocation colocId="t-byChannel(R, 0)-byChannel(A, 1)"/></resources>', 1)
    graph = f'<compositeOperInstance index="5" name="R">{inner}</compositeOperInstance>{operator("B", index=2)}'
    width = "<constantWidth>2</constantWidth>"
    spec = job(adl(graph, after=regions((5, width), (1, width))))
    assert spec["operators"] == [
        {"name": "R.A", "placement": 'hostColocation("t--" + byChannel())', "region": "R_1"},
        {"name": "B"},
    ]
    assert spec["parallelRegions"] == [{"name": "R", "width": 2}, {"name": "R_1", "width": 2, "within": "R"}]


def test_the_channel_of_a_region_that_is_not_there_is_a_part_of_the_token() -> None:
    graph = operator("A", '<resources><coLocation colocId="t-byChannel(A, 7)"/></resources>')
    assert placements(adl(graph)) == {"A": 'hostColocation("t-byChannel-A--7")'}


def test_a_width_of_submission_counts_before_the_constant() -> None:
    width = "<constantWidth>2</constantWidth><submissionTimeWidth> 3 </submissionTimeWidth>"
    assert job(adl(operator(), after=regions((0, width))))["parallelRegions"] == [{"name": "R", "width": 3}]


VALUE = '<submissionTimeValue index="4" name="width" kind="named" {0}/>'
BY_VALUE = "<submissionTimeParameterIndexForWidth>4</submissionTimeParameterIndexForWidth>"


def test_the_default_of_a_width_is_taken_and_noted() -> None:
    text = adl(operator(), after=regions((0, BY_VALUE)) + VALUE.format('defaultValue="&quot;2&quot;"'))
    assert job(text)["parallelRegions"] == [{"name": "R", "width": 2}]
    assert any(
        "a parallel region with 2 channels: that is the default of the submission-time value width; "
        "set width of the region if you submit another one" in line
        for line in remarks(converted(text, "adl"))
    )


@pytest.mark.parametrize("value", ["", VALUE.format('defaultValue="many"')])
def test_an_unknown_width_is_lost(value: str) -> None:
    text = adl(operator(), after=regions((0, BY_VALUE)) + value)
    assert job(text)["parallelRegions"] == [{"name": "R", "width": 1}]
    assert [line for line in remarks(converted(text, "adl")) if line.startswith("lost")] == [
        (
            "lost in:8: the width of a parallel region is left out: it is only known when a job is submitted; "
            "set width of the region"
        )
    ]


def test_what_kubernetes_has_not_is_said() -> None:
    graph = operator(attributes='relocatable="false"')
    after = VALUE.format("") + '<parallelRegion><replicateHostTag name="ib"/></parallelRegion>'
    assert remarks(converted(adl(graph, after=after), "adl"))[1:] == [
        (
            "in:6: relocatable=false of A only decides what is fused: Kubernetes starts the pod of a restart on any "
            "host that its constraints allow; give it host(...) if it has to come back to the same host"
        ),
        (
            "in:8: the submission-time value width is not known: the application has no default for it; "
            "add it to spec.submissionTimeValues"
        ),
        (
            "lost in:8: the replicated host tag ib is left out: tags of channels are generated at run time; "
            "declare a pool for each channel"
        ),
        (
            "lost in:8: the width of a parallel region is left out: it is only known when a job is submitted; "
            "set width of the region"
        ),
    ]


def test_several_applications_are_several_jobs() -> None:
    text = adl(operator()).replace("</applicationSet>", "")
    other = adl(operator()).partition("\n<splApplication")[2].replace("apps::Main", "apps::Other")
    assert [one["metadata"]["name"] for one in converted(f"{text}<splApplication{other}", "adl").manifests] == [
        "main",
        "other",
    ]


def test_two_applications_of_one_name_are_refused() -> None:
    text = adl(operator()).replace("</applicationSet>", "")
    other = adl(operator()).partition("\n<splApplication")[2]
    assert refusals(f"{text}\n<splApplication{other}", "adl") == [
        'in:10: two applications would be the Job "main": convert them one by one, with --name'
    ]


# What is refused


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>\n'
EXTERNAL = '<!DOCTYPE x SYSTEM "file:///etc/passwd">\n'
DOCTYPE = 'in:2: the document type "x" is not allowed: an ADL has none, and it could define entities'


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        (adl(operator(), before=BOMB), DOCTYPE),
        (adl(operator(), before=EXTERNAL), DOCTYPE),
        ("<a/>", f'in:1: the root is "a", but that of an ADL is applicationSet of {NAMESPACE[:-6]}'),
        (
            "<applicationSet xmlns='urn:x'/>",
            f'in:1: the root is "applicationSet", but that of an ADL is applicationSet of {NAMESPACE[:-6]}',
        ),
        (f'<applicationSet xmlns="{NAMESPACE}"/>', "in: the input contains no application"),
        (
            f'<applicationSet xmlns="{NAMESPACE}">\n<application name="Main"><pes/></application></applicationSet>',
            (
                "in:2: this ADL is of Streams before 4.2, and lists processing elements that the compiler fused: "
                "compile the program with 4.2 or later, or convert its SPL"
            ),
        ),
        (f'<applicationSet xmlns="{NAMESPACE}">\n<hostpool/>', "in:2: this is not XML: no element found"),
        ("", "in:1: this is not XML: no element found"),
        ("no xml", "in:1: this is not XML: syntax error"),
        (adl("&unknown;"), "in:6: this is not XML: undefined entity"),
        (adl(), 'in:3: "apps::Main" invokes no operator, so nothing would run'),
        (adl("<x>" * 300), "in:6: elements are nested more than 200 levels deep"),
        (
            adl(operator(resources='<resources><poolLocation poolIndex="7"/></resources>')),
            'in:6: operator "A" is placed on the host pool with index "7", which does not exist',
        ),
        (
            adl(operator(), '<hostpool name="P" size="-1"/>'),
            'in:4: size is "-1", which is not a whole number from 0 to 5000',
        ),
        (
            adl(operator(), '<hostpool name="P" size="99999999999999999999"/>'),
            'in:4: size is "99999999999999999999", which is not a whole number from 0 to 5000',
        ),
        (adl(operator(), '<hostpool name="P" size="0"/>'), 'in:4: host pool "P": 0 is not between 1 and 5000'),
        (
            adl(operator(), '<hostpool name="a b"/>'),
            'in:4: host pool "a b": "a b" is not an SPL identifier or label value of at most 63 characters',
        ),
        (
            adl(operator("A B")),
            'in:6: "A B" is not an operator name, such as Main.Sink',
        ),
        (
            adl(operator(resources="<resources>" + '<exLocation exlocId="e"/>' * 65 + "</resources>")),
            "in:6: the operator has more than 64 constraints",
        ),
        (
            adl(operator(), after=regions((0, "<constantWidth>many</constantWidth>"))),
            'in:8: constantWidth is "many", which is not a whole number from 0 to 10000',
        ),
        ('<?xml version="1.0" encoding="x-unknown"?><a/>', None),
        ('<?xml version="1.0" encoding="utf-7"?><a/>', None),
    ],
)
def test_what_is_not_an_adl_or_breaks_rules_is_refused(text: str, refusal: str | None) -> None:
    found = refusals(text, "adl")
    if refusal is None:
        assert found[0].startswith(("in:1: this is not XML", "in:1: this XML cannot be read"))
    else:
        assert found == [refusal]


def test_sizes_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (reading, application):
        monkeypatch.setattr(module, "OPERATORS", 3)
    graph = "".join(operator(f"A{at}", index=at) for at in range(4))
    assert refusals(adl(graph), "adl") == ["in:6: the application has more than 3 operators"]
    wide = regions((0, "<constantWidth>2</constantWidth>"), (9, "<constantWidth>2</constantWidth>"))
    assert refusals(adl(operator(), after=wide), "adl") == ["in:6: the application expands to more than 3 operators"]
    monkeypatch.setattr(reading, "ADL_LIMIT", 10)
    assert refusals("x" * 11, "adl") == ["in: the ADL has 11 bytes, at most 10 are read"]
