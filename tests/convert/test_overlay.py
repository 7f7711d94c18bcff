"""Job configuration overlays become fields of the Jobs that are converted together with them."""

import json
from typing import Any

import pytest

from tests.convert.adl_documents import adl, operator
from tests.convert.converted_texts import remarks
from webhook.convert.conversion import ConvertOptions, Input, convert, kind_of
from webhook.convert.findings import Conversion
from webhook.convert.input_kind import InputKind
from webhook.convert.targets import Targets

PROGRAM = """composite Main { graph
  stream<int32 a> A = Beacon() { config placement: partitionIsolation, host("w"); }
  @parallel(width=2) stream<A> B = Functor(A) { config placement: hostColocation("x"), partitionColocation("p"); }
}
"""


def overlay(**sections: Any) -> str:
    return json.dumps({"jobConfigOverlays": [sections]}, indent=1)


def conversions(*texts: str, program: str = PROGRAM, kind: InputKind = InputKind.SPL) -> list[Conversion]:
    """The conversions of a program, and of overlays beside it."""
    others = [Input(f"o{at}", text.encode(), InputKind.OVERLAY) for at, text in enumerate(texts)]
    return convert([Input("in", program.encode(), kind), *others], ConvertOptions())


def job(text: str) -> dict[str, Any]:
    """The Job of the program with the overlay."""
    found, read = conversions(text)
    assert (found.problems, read.problems) == ((), ())
    (manifest,) = found.manifests
    return manifest


def spec_of(**sections: Any) -> dict[str, Any]:
    spec: dict[str, Any] = job(overlay(**sections))["spec"]
    return spec


def said(**sections: Any) -> list[str]:
    """The remarks about the overlay."""
    return remarks(conversions(overlay(**sections))[1])


def refused(*texts: str) -> list[str]:
    """The problems of the overlays."""
    return [f"{one.field}: {one.message}" for found in conversions(*texts)[1:] for one in found.problems]


@pytest.mark.parametrize(
    ("config", "fusion"),
    [
        ({"fusionScheme": "manual", "fusionTargetPeCount": 3}, {"manual": 3}),
        ({"fusionScheme": "manual", "fusionTargetPeCount": "3"}, {"manual": 3}),
        ({"fusionScheme": "automatic"}, {"automatic": True}),
        ({"fusionScheme": "legacy"}, {"legacy": True}),
        ({"parallelRegionConfig": {"fusionType": "channelIsolation"}}, {"type": "channelIsolation"}),
        (
            {"fusionScheme": "legacy", "parallelRegionConfig": {"fusionType": "channelExlocation"}},
            {"legacy": True, "type": "channelExlocation"},
        ),
        ({"parallelRegionConfig": {}}, None),
    ],
)
def test_a_deployment_chooses_how_operators_are_fused(config: dict[str, Any], fusion: dict[str, Any] | None) -> None:
    assert spec_of(deploymentConfig=config).get("fusion") == fusion


@pytest.mark.parametrize(
    ("config", "model"),
    [
        ({"threadingModel": "automatic"}, {"automatic": True}),
        ({"threadingModel": "dedicated"}, {"dedicated": True}),
        ({"threadingModel": "dynamic"}, {"dynamic": {}}),
        (
            {"threadingModel": "dynamic", "dynamicThreadingElastic": False, "dynamicThreadingThreadCount": 4},
            {"dynamic": {"elastic": False, "threadCount": 4}},
        ),
        ({"threadingModel": "notSpecified"}, None),
    ],
)
def test_a_deployment_chooses_the_threads(config: dict[str, Any], model: dict[str, Any] | None) -> None:
    assert spec_of(deploymentConfig=config).get("threadingModel") == model


def test_a_job_has_the_name_and_options_of_its_configuration() -> None:
    parameters = [{"name": "Main.url", "value": "http://x"}, {"name": "n", "value": 3}]
    config = {"jobName": "My_Job", "tracing": "debug", "dataDirectory": "/data", "submissionParameters": parameters}
    manifest = job(overlay(jobConfig=config))
    assert manifest["metadata"]["name"] == "my-job"
    assert manifest["spec"]["processingElement"] == {"appTraceLevel": "DEBUG", "dataPath": "/data"}
    assert manifest["spec"]["submissionTimeValues"] == {"Main.url": "http://x", "n": "3"}
    assert said(jobConfig={"submissionParameters": parameters}) == [
        (
            "o0:5: submission-time values are only handed to the application: clauses and widths of parallel regions "
            "that depend on them have the program's defaults; replace what another value changes"
        )
    ]


def test_a_name_that_is_given_counts_before_that_of_the_overlay() -> None:
    inputs = [
        Input("in", PROGRAM.encode(), InputKind.SPL),
        Input("o", overlay(jobConfig={"jobName": "own"}).encode(), InputKind.OVERLAY),
    ]
    (manifest,) = convert(inputs, ConvertOptions(name="given"))[0].manifests
    assert manifest["metadata"]["name"] == "given"


def test_several_applications_keep_their_names() -> None:
    program = PROGRAM + PROGRAM.replace("Main", "Other")
    found = conversions(
        overlay(jobConfig={"jobName": "own"}, deploymentConfig={"fusionScheme": "legacy"}), program=program
    )
    assert [(one["metadata"]["name"], one["spec"]["fusion"]) for one in found[0].manifests] == [
        ("main", {"legacy": True}),
        ("other", {"legacy": True}),
    ]


def test_compiled_applications_are_configured_too() -> None:
    text = overlay(deploymentConfig={"fusionScheme": "legacy"})
    found, _ = conversions(text, program=adl(operator()), kind=InputKind.ADL)
    assert found.manifests[0]["spec"]["fusion"] == {"legacy": True}


def isolations(*entries: tuple[str, bool], ignored: str = "NONE") -> dict[str, str]:
    """The placement of each operator with these changes."""
    overrides = [{"nameSpec": name, "partitionIsolation": isolated} for name, isolated in entries]
    spec = spec_of(operatorConfigs={"overrides": overrides, "ignoreBundleRelationalPlacements": ignored})
    return {one["name"]: one.get("placement", "") for one in spec["operators"]}


@pytest.mark.parametrize(
    ("entries", "found"),
    [
        ([("A", False)], {"A": 'host("w")', "B": 'hostColocation("x"), partitionColocation("p")'}),
        (
            [("A", False), ("?", True), ("*", False), ("[A]", True), ("A", True)],
            {"A": 'host("w"), partitionIsolation', "B": 'hostColocation("x"), partitionColocation("p")'},
        ),
    ],
)
def test_operators_are_isolated_or_no_more(entries: list[tuple[str, bool]], found: dict[str, str]) -> None:
    assert isolations(*entries) == found


def test_one_channel_may_be_isolated() -> None:
    found = isolations(("B[1]", True), ignored="PARTITION")
    assert found == {
        "A": 'host("w")',
        "B[0]": 'hostColocation("x")',
        "B[1]": 'hostColocation("x"), partitionIsolation',
    }


def test_channels_whose_clauses_stand_in_another_order_are_written_one_by_one() -> None:
    program = PROGRAM.replace('partitionColocation("p")', "partitionIsolation").replace(
        'hostColocation("x"), partitionIsolation', 'partitionIsolation, hostColocation("x")'
    )
    entry = {"nameSpec": "B[0]", "partitionIsolation": True}
    (manifest,) = conversions(overlay(operatorConfigs={"overrides": [entry]}), program=program)[0].manifests
    assert [one["placement"] for one in manifest["spec"]["operators"][1:]] == [
        'hostColocation("x"), partitionIsolation',
        'partitionIsolation, hostColocation("x")',
    ]


@pytest.mark.parametrize(
    ("ignored", "found"),
    [
        ("NONE", {"A": 'partitionIsolation, host("w")', "B": 'hostColocation("x"), partitionColocation("p")'}),
        ("PARTITION", {"A": 'host("w")', "B": 'hostColocation("x")'}),
        ("HOST", {"A": 'partitionIsolation, host("w")', "B": 'partitionColocation("p")'}),
        ("ALL", {"A": 'host("w")', "B": ""}),
    ],
)
def test_clauses_of_the_bundle_may_be_ignored(ignored: str, found: dict[str, str]) -> None:
    text = overlay(operatorConfigs={"ignoreBundleRelationalPlacements": ignored})
    assert {one["name"]: one.get("placement", "") for one in job(text)["spec"]["operators"]} == found


def test_a_name_that_no_operator_has_is_said() -> None:
    entry = {"nameSpec": "Nowhere*", "partitionIsolation": True}
    found, _ = conversions(overlay(operatorConfigs={"overrides": [entry]}))
    assert (
        "o0:8: partitionIsolation of Nowhere* is left out: no operator of Main has that name; check the name"
        in remarks(found)
    )


def test_every_other_key_is_said() -> None:
    text = json.dumps(
        {
            "comment": "c",
            "results": [],
            "more": 1,
            "jobConfigOverlays": [
                {
                    "extra": {},
                    "jobConfig": {"jobGroup": "g", "submissionParameters": [{"name": "n", "value": "v", "type": "t"}]},
                    "deploymentConfig": {
                        "placementScheme": "balancedJob",
                        "fusionTargetPeCount": 3,
                        "dynamicThreadingElastic": True,
                        "parallelRegionConfig": {"width": 3},
                    },
                    "operatorConfigs": {
                        "overrides": [{"nameSpec": "A", "resource": "r"}],
                        "hostColocationGroups": [{"members": ["A"]}],
                        "none": [],
                    },
                    "configInstructions": {"convertTagSet": []},
                },
                {},
            ],
        }
    )
    nothing = "is left out: a Job has no such field; check whether you need it"
    applied = "it changes where operators run, and is only applied when a job is submitted to Streams"
    found = remarks(conversions(text)[1])
    assert [line for line in found if "submission-time values" not in line] == [
        f"o0:1: more {nothing}",
        "o0:1: the second overlay is left out: Streams only reads the first overlay of a file; use a file for each",
        f"o0:1: extra {nothing}",
        f"o0:1: jobConfig.jobGroup {nothing}",
        f"o0:1: jobConfig.submissionParameters.type {nothing}",
        f"o0:1: deploymentConfig.placementScheme {nothing}",
        (
            "o0:1: deploymentConfig.fusionTargetPeCount is left out: only fusionScheme manual has a number of "
            "processing elements; set fusionScheme to manual"
        ),
        f"o0:1: deploymentConfig.parallelRegionConfig.width {nothing}",
        (
            "o0:1: deploymentConfig.dynamicThreadingElastic is left out: only threadingModel dynamic has it; "
            "set threadingModel to dynamic"
        ),
        *(
            f"lost o0:1: {what} is left out: {applied}; change the operators of the Job"
            for what in (
                "operatorConfigs.overrides.resource of A",
                "operatorConfigs.hostColocationGroups",
                "operatorConfigs.none",
                "configInstructions.convertTagSet",
            )
        ),
    ]


def test_changes_of_operators_are_ignored_under_the_legacy_scheme() -> None:
    sections = {"deploymentConfig": {"fusionScheme": "legacy"}, "operatorConfigs": {"hostColocationGroups": []}}
    assert said(**sections) == [
        (
            "o0:7: operatorConfigs is left out: Streams ignores it under fusionScheme legacy; choose another scheme if "
            "you need it"
        )
    ]


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("{", "o0:1: this is not YAML: did not find expected node content"),
        ("{}", "o0:1: a job configuration overlay is one JSON object with jobConfigOverlays"),
        ('{"jobConfigOverlays": []}', "o0:1: jobConfigOverlays has no overlay"),
        (
            overlay(deploymentConfig={"fusionScheme": "auto"}),
            'o0:5: fusionScheme is "auto", but its values are: automatic, legacy, manual',
        ),
        (
            overlay(deploymentConfig={"fusionScheme": "manual"}),
            "o0:5: fusionScheme manual needs a fusionTargetPeCount",
        ),
        (
            overlay(deploymentConfig={"fusionScheme": "manual", "fusionTargetPeCount": 0}),
            'o0:6: fusionTargetPeCount is "0", which is not a whole number from 1 to 1000',
        ),
        (
            overlay(deploymentConfig={"fusionScheme": "manual", "fusionTargetPeCount": 1001}),
            'o0:6: fusionTargetPeCount is "1001", which is not a whole number from 1 to 1000',
        ),
        (
            overlay(deploymentConfig={"parallelRegionConfig": {"fusionType": "x"}}),
            'o0:6: fusionType is "x", but its values are: noChannelInfluence, channelIsolation, channelExlocation',
        ),
        (
            overlay(deploymentConfig={"threadingModel": "fast"}),
            'o0:5: threadingModel is "fast", but its values are: automatic, dedicated, dynamic, manual, notSpecified',
        ),
        (
            overlay(operatorConfigs={"overrides": [{"nameSpec": "A", "partitionIsolation": "yes"}]}),
            'o0:8: partitionIsolation is "yes", but its values are: false, true',
        ),
        (
            overlay(operatorConfigs={"ignoreBundleRelationalPlacements": "all"}),
            'o0:5: ignoreBundleRelationalPlacements is "all", but its values are: ALL, HOST, NONE, PARTITION',
        ),
        (
            overlay(jobConfig={"submissionParameters": [{"name": "n"}]}),
            "o0:6: a submission parameter has a name and a value",
        ),
    ],
)
def test_what_is_not_an_overlay_is_refused(text: str, refusal: str) -> None:
    assert refused(text) == [refusal]


def test_a_job_is_submitted_with_one_overlay() -> None:
    assert refused(overlay(), overlay()) == ["o1:1: this is a second overlay: a job is submitted with one"]


def test_fields_of_the_job_keep_its_rules() -> None:
    (found, _) = conversions(overlay(jobConfig={"dataDirectory": "data", "tracing": "loud"}))
    assert [problem.message for problem in found.problems] == [
        'spec.processingElement.appTraceLevel: "LOUD" is not one of OFF, ERROR, WARN, INFO, DEBUG, TRACE',
        'spec.processingElement.dataPath: "data" is not an absolute path',
    ]


def test_an_overlay_alone_configures_nothing() -> None:
    unused = "o:1: the overlay configures no Job: name the application that it is for as well"
    for others in ([], [Input("w", b"kubernetes.namespace: a", InputKind.TWISTER2)]):
        found = convert([*others, Input("o", overlay().encode(), InputKind.OVERLAY)], ConvertOptions())
        assert [f"{one.field}: {one.message}" for one in found[-1].problems] == [unused]
    broken = convert(
        [Input("s", b"composite", InputKind.SPL), Input("o", overlay().encode(), InputKind.OVERLAY)], ConvertOptions()
    )
    assert (bool(broken[0].problems), broken[1].problems) == (True, ())


def test_an_overlay_is_not_put_onto_pods() -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c"}]}}
    options = ConvertOptions(targets=Targets([("p.yaml", pod)]))
    inputs = [
        Input("in", PROGRAM.encode(), InputKind.SPL),
        Input("o", overlay().encode(), InputKind.OVERLAY),
    ]
    assert [problem.message for problem in convert(inputs, options)[1].problems] == [
        "an overlay configures a Job, and --onto makes none"
    ]


def test_the_kind_is_told_by_its_root() -> None:
    assert kind_of(overlay().encode()) is InputKind.OVERLAY
