"""Hardware intents of EMCO become HPAIntents, in whatever form they are kept."""

import json
from typing import Any

import pytest

from tests.convert.converted_texts import converted, refusals, remarks
from tests.emco_intents import EXAMPLES, Example
from webhook.placement.objects.intent import read_intent

GROUP = "projects/p/composite-apps/c/v1/deployment-intent-groups/g/hpa-intents"
INTENT = {"metadata": {"name": "i"}, "spec": {"app": "a"}}
CONSUMER = {
    "metadata": {"name": "c"},
    "spec": {"consumer": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d", "container-name": "m"}},
}
WORKLOAD = {"apiVersion": "apps/v1", "kind": "Deployment"}
GPU = {
    "metadata": {"name": "g"},
    "spec": {"mandatory": True, "allocatable": True, "name": "nvidia.com/gpu", "requests": 1},
}
HPA_INTENT = {
    "apiVersion": "streams.ibm.com/v1",
    "kind": "HPAIntent",
    "metadata": {"name": "i"},
    "spec": {
        "app": "a",
        "consumers": [
            {
                "name": "c",
                "consumer": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d", "container-name": "m"},
                "requirements": [
                    {
                        "name": "g",
                        "spec": {"mandatory": True, "allocatable": True, "name": "nvidia.com/gpu", "requests": 1},
                    }
                ],
            }
        ],
    },
}


def documents(*found: dict[str, Any]) -> str:
    """Bodies one after the other."""
    return "\n---\n".join(map(json.dumps, found))


def anchored(path: str, body: dict[str, Any]) -> dict[str, Any]:
    """A resource of ``emcoctl``."""
    return {"version": "emco/v2", "resourceContext": {"anchor": path}, **body}


def sent(path: str, body: dict[str, Any], method: str = "POST") -> dict[str, Any]:
    """A request of a collection of Postman."""
    url = {"raw": f"{{{{baseUrl}}}}/{path}"}
    return {"name": "x", "request": {"method": method, "url": url, "body": {"mode": "raw", "raw": json.dumps(body)}}}


RESOURCES = documents(
    anchored("projects", {"metadata": {"name": "p"}}),
    anchored(GROUP, INTENT),
    anchored(f"{GROUP}/i/hpa-resource-consumers", CONSUMER),
    anchored(f"/v2/{GROUP}/i/hpa-resource-consumers/c/resource-requirements", GPU),
)
SPOKEN = f"""# as in EMCO's design
/{GROUP}

POST:
   metadata:
      name: i

   spec: {{app: a}}
POST /v2/{GROUP}/i/hpa-resource-consumers
PUT:
  metadata: {{name: c}}
  spec: {{consumer: {{apiVersion: apps/v1, kind: Deployment, name: d, container-name: m}}}}
```
{GROUP}/i/hpa-resource-consumers/c/resource-   requirements
  POST:
    metadata: {{name: g}}
    spec: {{mandatory: true, allocatable: true, name: nvidia.com/gpu, requests: 1}}
"""
COLLECTION = json.dumps(
    {
        "info": {},
        "item": [
            sent(GROUP, INTENT),
            {"name": "folder", "item": [sent(f"{GROUP}/i/hpa-resource-consumers", CONSUMER)]},
            sent(f"{GROUP}/i/hpa-resource-consumers/c/resource-requirements", GPU, "PUT"),
            sent(GROUP, INTENT, "GET"),
            sent("projects/p", INTENT),
            {"name": "no body", "request": {"method": "POST", "url": GROUP}},
            {"name": "no method", "request": {"url": GROUP}},
            {"name": "no address", "request": {"method": "POST", "body": {}}},
        ],
    },
    indent=1,
)
NESTED = {
    "metadata": {"name": "i"},
    "spec": {
        "appName": "a",
        "resourceConsumers": [
            {"metadata": {"name": "c"}, "spec": {**CONSUMER["spec"], "requirements": [GPU]}},
        ],
    },
}


@pytest.mark.parametrize(
    "text",
    [
        documents(INTENT, CONSUMER, GPU),
        json.dumps([INTENT, CONSUMER, GPU], indent="\t"),
        RESOURCES,
        RESOURCES.replace('"metadata"', '"Metadata"').replace('"name": "i"', '"Name": "i"'),
        SPOKEN,
        COLLECTION,
        json.dumps(NESTED),
        json.dumps(HPA_INTENT),
    ],
    ids=["bodies", "list", "emcoctl", "capitals", "spoken", "postman", "nested", "hpaintent"],
)
def test_every_form_of_an_intent_is_read(text: str) -> None:
    found = converted(text, "emco")
    assert found.problems == ()
    assert found.manifests == (HPA_INTENT,)


def test_what_is_not_an_intent_is_said() -> None:
    assert remarks(converted(RESOURCES, "emco"))[0] == (
        "in:1: projects is left out: it is not a hardware intent; create it in EMCO as before"
    )


def test_several_resources_that_are_no_intents_are_counted_in_one_line() -> None:
    project, app = (
        f"version: v2\nresourceContext: {{anchor: {anchor}}}\n" for anchor in ("projects", "projects/p/apps")
    )
    lines = remarks(converted(f"{project}---\n{project}---\n{app}---\n{RESOURCES}", "emco"))
    [said] = [line for line in lines if "left out" in line]
    assert said == (
        "in:1: 4 resources are left out, projects (3 times), projects/p/apps: they are not hardware intents; "
        "create them in EMCO as before"
    )


def test_where_an_intent_counts_is_said() -> None:
    assert remarks(converted(documents(INTENT), "emco")) == [
        (
            "in:1: HPAIntent i is for the workloads of its namespace: it applies where the namespace has the label "
            "streams.ibm.com/inject=enabled; label the namespace, or name the intent in the annotation "
            "streams.ibm.com/hpa-intent"
        )
    ]


def consumers(*found: dict[str, Any]) -> list[dict[str, Any]]:
    """The consumers of the intent of which these are the rest."""
    (manifest,) = converted(documents(INTENT, *found), "emco").manifests
    specs: list[dict[str, Any]] = manifest["spec"]["consumers"]
    return specs


def test_the_spellings_of_the_code_are_read() -> None:
    workload = {"api-version": "1.19", "kind": "Deployment", "name": "d", "container-name": "m", "replicas": 1}
    gpu = {"allocatable": True, "weight": 3, "resource": {"name": "memory", "requests": 5, "limits": 6}}
    given = documents(
        {"metadata": {"name": "i"}, "spec": {"app-name": "a"}},
        {"metadata": {"name": "c"}, "spec": workload},
        {"metadata": {"name": "g", "description": "fast", "labels": "x"}, "spec": gpu},
    )
    found = converted(given, "emco")
    (consumer,) = found.manifests[0]["spec"]["consumers"]
    assert consumer["consumer"] == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "name": "d",
        "container-name": "m",
        "replicas": 1,
    }
    assert consumer["requirements"] == [
        {
            "name": "g",
            "metadata": {"description": "fast"},
            "spec": {
                "mandatory": True,
                "allocatable": True,
                "weight": 3,
                "name": "memory",
                "requests": 5,
                "limits": 6,
                "units": "MB",
            },
        }
    ]
    assert [line for line in remarks(found) if "HPAIntent" not in line] == [
        (
            'in:3: apiVersion apps/v1 of Deployment instead of "1.19": consumers are found by it, and EMCO takes any; '
            "check that this is the workload"
        ),
        ("in:5: metadata.labels is left out: EMCO's objects have a name, a description and two notes; write a comment"),
        (
            "in:5: requirement g is mandatory: it does not say so; EMCO's code then treats it as optional; "
            "write mandatory: false if it is a wish"
        ),
        (
            "in:5: requirement g counts MB: that is the default of EMCO's design, and how its controllers count; "
            "write units"
        ),
    ]


def test_a_version_that_is_not_said_is_filled_in() -> None:
    found = documents(INTENT, {"metadata": {"name": "c"}, "spec": {"kind": "StatefulSet", "name": "d"}})
    (manifest,) = converted(found, "emco").manifests
    assert manifest["spec"]["consumers"] == [
        {"name": "c", "consumer": {"kind": "StatefulSet", "name": "d", "apiVersion": "apps/v1"}}
    ]
    assert any('instead of "": the consumer does not state it' in line for line in remarks(converted(found, "emco")))


def test_labels_of_nodes_are_read() -> None:
    label = {"metadata": {"name": "l"}, "spec": {"mandatory": False, "resource": {"key": "cuda", "value": "10"}}}
    ((requirement,),) = [one["requirements"] for one in consumers(CONSUMER, label)]
    assert requirement == {"name": "l", "spec": {"mandatory": False, "key": "cuda", "value": "10"}}


def test_consumers_and_requirements_without_names_are_read() -> None:
    nested = {
        "metadata": {"name": "i"},
        "spec": {
            "consumers": [
                {
                    "consumer": CONSUMER["spec"]["consumer"],
                    "requirements": [{"mandatory": True, "name": "cpu", "requests": "500m"}],
                },
                {"kind": "Deployment", "apiVersion": "apps/v1", "name": "e"},
            ]
        },
    }
    (manifest,) = converted(json.dumps(nested), "emco").manifests
    first, second = manifest["spec"]["consumers"]
    assert first["name"] == "d"
    assert first["requirements"] == [{"mandatory": True, "name": "cpu", "requests": "500m"}]
    assert second == {"name": "e", "consumer": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "e"}}


def test_paths_say_what_belongs_to_what() -> None:
    other = f"{GROUP}/j/hpa-resource-consumers"
    text = documents(
        anchored(GROUP, INTENT),
        anchored(GROUP, {"metadata": {"name": "j"}, "spec": {}}),
        anchored(f"{GROUP}/i/hpa-resource-consumers", CONSUMER),
        anchored(other, CONSUMER),
        anchored(other, {**CONSUMER, "metadata": {"name": "b"}}),
        anchored(f"{other}/c/resource-requirements", GPU),
    )
    first, second = converted(text, "emco").manifests
    assert [one["name"] for one in first["spec"]["consumers"]] == ["c"]
    assert [(one["name"], len(one.get("requirements", ()))) for one in second["spec"]["consumers"]] == [
        ("c", 1),
        ("b", 0),
    ]


def requirement(**spec: Any) -> str:
    return documents(INTENT, CONSUMER, {"metadata": {"name": "g"}, "spec": {"mandatory": True, **spec}})


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        (documents(CONSUMER), 'in:1: consumer "c" belongs to an intent, which must come before it in the input'),
        (documents(INTENT, GPU), 'in:3: requirement "g" belongs to a consumer, which must come before it in the input'),
        (
            documents(INTENT, anchored(f"{GROUP}/j/hpa-resource-consumers", CONSUMER)),
            'in:3: consumer "c" belongs to intent "j", which must come before it in the input',
        ),
        (
            documents(
                INTENT, CONSUMER, anchored(f"{GROUP}/i/hpa-resource-consumers/b/resource-requirements", GPU)
            ),
            'in:5: requirement "g" belongs to consumer "b", which must come before it in the input',
        ),
        (documents(INTENT, INTENT), 'in:3: intent "i" occurs twice, first in line 1'),
        (
            documents(anchored(GROUP, INTENT), anchored(GROUP.replace("/g/", "/h/"), INTENT)),
            'in:3: intent "i" occurs twice, first in line 1 in p/c/v1/g, and both would be one object',
        ),
        (documents(INTENT, CONSUMER, CONSUMER), 'in:5: consumer "c" of intent "i" occurs twice'),
        (documents(INTENT, CONSUMER, GPU, GPU), 'in:7: requirement "g" of consumer "c" occurs twice'),
        (
            documents({**INTENT, "metadata": {"name": "A B"}}),
            "in:1: \"A B\" is not an object name: a-z, 0-9, '-' and '.'",
        ),
        (
            documents({"metadata": {"name": "i"}, "spec": {"app": "a", "appName": "b"}}),
            "in:1: app and appName mean the same, but have different values",
        ),
        (
            documents({"metadata": {"name": "i"}, "spec": {"app": "a", "apps": "b"}}),
            'in:1: unknown field "apps" of an intent',
        ),
        (documents({"metadata": {}, "spec": {"app": "a"}}), "in:1: metadata.name is missing"),
        (documents({"metadata": {"name": "i"}}), "in:1: an object of an intent has metadata and spec"),
        (
            documents({"metadata": {"name": "i"}, "spec": {}}),
            "in:1: this spec is not that of an intent (app), a consumer or a requirement",
        ),
        (
            documents({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "i"}, "spec": {"ports": []}}),
            (
                'in:1: this is a Kubernetes manifest of kind "Service": explain and plan read it as it is, and --onto '
                "adds annotations to it"
            ),
        ),
        (
            documents({"apiVersion": "v1", "kind": "Secret", "data": {}}),
            (
                'in:1: this is a Kubernetes manifest of kind "Secret": explain and plan read it as it is, and --onto '
                "adds annotations to it"
            ),
        ),
        (
            documents({**INTENT, "specs": {}}),
            'in:1: unknown field "specs": an object of an intent has metadata and spec',
        ),
        (documents(anchored("", INTENT)), "in:1: resourceContext needs an anchor, the path of the collection"),
        (
            documents(anchored("a/hpa-intents", INTENT)),
            ('in:1: "a/hpa-intents" is not a path of hardware intents, such as '
            "projects/P/composite-apps/A/VERSION/deployment-intent-groups/G/hpa-intents"),
        ),
        (documents(anchored("projects", INTENT)), "in: the input contains no hardware intent"),
        ("", "in: the input contains no hardware intent"),
        (
            documents(INTENT, {"metadata": {"name": "c"}, "spec": {"kind": "Deployment", "size": 1}}),
            'in:3: unknown field "size" of a consumer',
        ),
        (
            documents(
                INTENT, {"metadata": {"name": "c"}, "spec": {"container-name": "a", "consumer": {"container": "b"}}}
            ),
            'in:3: container-name is "a" here and "b" elsewhere',
        ),
        (
            documents(INTENT, {"metadata": {"name": "c"}, "spec": {"kind": "Deployment"}}),
            "in:3: missing: names the workload",
        ),
        (requirement(name="cpu", size=1), 'in:5: unknown field "size" of a requirement'),
        (requirement(name=["cpu"], value="1"), "in:5: name must be one word"),
        (documents({"metadata": {"name": "i"}, "spec": {"app": ["a"]}}), "in:1: app must be one word"),
        (
            documents({"metadata": {"name": "i"}, "spec": {"app": "a", "replicationCount": "many"}}),
            'in:1: "many" is not a whole number from 1 to 1000',
        ),
        (
            documents({"metadata": {"name": "i", "description": {}}, "spec": {"app": "a"}}),
            "in:1: metadata.description must be one word",
        ),
        (
            documents(INTENT, {"metadata": {"name": "c"}, "spec": {"kind": "Deployment", "container-name": ["m"]}}),
            "in:3: container-name must be one word",
        ),
        (
            documents(
                {
                    "metadata": {"name": "i"},
                    "spec": {"consumers": [{**WORKLOAD, "name": f"c{at}"} for at in range(65)]},
                }
            ),
            "in:1: has 65 consumers, at most 64 are allowed",
        ),
        (
            requirement(name="cpu", requests=1, resource={"requests": 2}),
            'in:5: requests is "2" here and "1" beside it',
        ),
        (requirement(name="cpu", requests=2, limits=1), "in:5: requests 2 of cpu are more than limits 1"),
        (requirement(allocatable="perhaps", name="cpu", requests=1), 'in:5: "perhaps" is neither true nor false'),
        (requirement(name="cpu"), "in:5: needs requests or limits: how much of cpu"),
        (requirement(name="cpu", limits="many"), 'in:5: "many" is not a Kubernetes quantity'),
        (
            f"{GROUP}\nGET all\nPOST:\n  metadata: {{name: a}}\n",
            'in:2: "GET all" is neither a path nor POST: with a body below it',
        ),
    ],
)  # fmt: skip
def test_what_breaks_a_rule_is_refused_at_its_line(text: str, refusal: str) -> None:
    assert refusals(text, "emco")[0] == refusal


def test_the_number_of_clusters_is_kept() -> None:
    text = documents({"metadata": {"name": "i"}, "spec": {"app": "a", "replicationCount": 3}})
    (manifest,) = converted(text, "emco").manifests
    assert manifest["spec"] == {"app": "a", "replicationCount": 3, "consumers": []}


def test_long_numbers_keep_all_their_digits() -> None:
    number = "1" * 16
    (manifest,) = converted(requirement(name="example.com/fpga", requests=int(number)), "emco").manifests
    assert manifest["spec"]["consumers"][0]["requirements"][0]["spec"]["requests"] == number


def test_folders_of_collections_are_limited() -> None:
    found: dict[str, Any] = sent(GROUP, INTENT)
    for _ in range(10):
        found = {"item": [found]}
    assert refusals(json.dumps(found), "emco") == ["in:1: folders are nested more than 8 levels deep"]


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
def test_examples_of_emco_become_intents_that_the_webhook_reads(example: Example) -> None:
    anchor = "projects/p/composite-apps/c/v1/deployment-intent-groups/g/hpa-intents"
    given = documents(
        *({"version": "emco/v2", "resourceContext": {"anchor": f"{anchor}{one.path}"}, **one.body} for one in example)
    )
    found = converted(given, "emco")
    read = {
        one["metadata"]["name"]: read_intent("default", one["metadata"]["name"], one["spec"]) for one in found.manifests
    }
    assert [problem for one in read.values() for problem in one.problems] == []
    wanted = [one for one in example if one.path.endswith("consumers")]
    stated = [(each.name, each.group, each.replicas) for one in read.values() for each in one.consumers]
    assert stated == [(one.name, "apps", one.spec.get("replicas")) for one in wanted]


@pytest.mark.parametrize(
    "spec",
    [
        {"kind": "Deployment", "name": "d", "replicas": 2, "consumer": {"replicas": 3}},
        {"kind": "Deployment", "name": "d", "container": "a", "consumer": {"container-name": "b"}},
    ],
)
def test_a_field_of_a_consumer_in_two_places_says_the_same(spec: dict[str, Any]) -> None:
    (problem,) = refusals(documents(INTENT, {"metadata": {"name": "c"}, "spec": spec}), "emco")
    assert problem.endswith("elsewhere")


def test_replicas_that_are_no_number_are_refused() -> None:
    spec = {"kind": "Deployment", "name": "d", "replicas": "many"}
    (problem,) = refusals(documents(INTENT, {"metadata": {"name": "c"}, "spec": spec}), "emco")
    assert problem.endswith('"many" is not a whole number from 1 to 10000')
