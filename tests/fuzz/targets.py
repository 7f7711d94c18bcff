"""The table of targets: every parser that a stranger can reach, by the name that ``make fuzz TARGET=`` takes.

A parser that is added gets an entry here, and a function beside its kin that says what must hold.
"""

from collections.abc import Iterator
from itertools import chain
from typing import Final

from tests.fuzz import annotation_texts as texts
from tests.fuzz import (
    conversions,
    described_kinds,
    documents,
    http_requests,
    placement_reviews,
    rest_requests,
    reviews,
    watched_objects,
)
from tests.fuzz import kubernetes_texts as kubernetes
from tests.fuzz.seeds import annotations, literals
from tests.fuzz.target import Target
from webhook.placement.text import keys


def _placements() -> Iterator[bytes]:
    return chain(annotations(keys.PLACEMENT), annotations("placement"), literals("placement/spl"))


def _mappings() -> Iterator[bytes]:
    """Texts as the values of single annotations of worker mapping, with the mapping switched on."""
    for part in literals("placement/annotations"):
        for at in range(1, len(keys.WORKER_MAPPING)):
            yield b"\x1e".join([b"true", *[b"-"] * (at - 1), part])


_ALL: Final = (
    Target(
        "placement", texts.placement,
        _placements,
        (
            "host(", "hostColocation(", "hostExlocation(", "hostIsolation", "partitionColocation(",
            "partitionIsolation", '"a"', "$default", "A::b.c[0]:", "[3u]", "; ", ", ", "/*", "*/", "// x\n",
            "\\u00e9", "\\ud83d\\ude00", "\\n",
        ),
    ),
    Target(
        "pools", texts.pools,
        lambda: literals("placement/spl/test_spl_pools.py"),
        (
            "config hostPool:", "P=", "createPool(", "{size=3u", 'tags=["a","b"]', "Sys.Shared)", "Sys.Exclusive)",
            '["h1","h2"]',
        ),
        pumped=65536,
    ),
    Target(
        "yaml", texts.yaml_text,
        lambda: chain(annotations(keys.MAPPING), annotations(keys.HARDWARE), literals("placement/annotations")),
        (
            "- ", ": ", "[", "]", "{", "}", "? ", "| \n", ">-\n", "&a ", "*a", "!!str ", "<<: ", "---\n", "...\n",
            "null", "~",
        ),
    ),
    Target(
        "hardware", texts.hardware,
        lambda: chain(annotations(keys.HARDWARE), literals("placement/annotations", "placement/constraints")),
        (
            "name: ", "requests: ", "limits: ", "units: ", "value: ", "mandatory: ", "weight: ", "allocatable: ",
            "container-name: ", "spec: ", "resource: ", "key: ", "- ", "nvidia.com/gpu", "hugepages-2Mi", "memory",
            "GB",
        ),
    ),
    Target(
        "worker-mapping", texts.worker_mapping,
        _mappings,
        (
            "true\x1e", "-\x1e", "\x1e", "key: ", "operator: ", "values: ", "In", "NotIn", "Gt", "Exists",
            "DoesNotExist", "all-same-node", "[{", "}]", "disktype",
        ),
    ),
    Target(
        "pod-selector", texts.pod_selector,
        lambda: chain(
            annotations(keys.RUN_WITH),
            literals("placement/kube/selection/test_selector_text.py", "placement/annotations"),
        ),
        (
            " in ", " notin ", "(a,b)", "!", "==", "!=", "=", ",", ">1", "<2", "app", "a.b/c",
        ),
        size=1200,
    ),
    Target(
        "quantity", kubernetes.quantity,
        lambda: literals("placement/kube/test_quantity.py", "placement/kube/test_requests.py"),
        (
            "Ki", "Mi", "Ei", "m", "n", "u", "E", "e", "e+", "e-", ".", "9223372036854775807", "000",
        ),
        size=80,
    ),
    Target(
        "address", kubernetes.address,
        lambda: literals("placement/kube/test_addresses.py"),
        (
            "::", "ffff:", "%eth0", "/64", "1.2.3.4",
        ),
        size=100,
    ),
    Target(
        "names", kubernetes.names,
        lambda: literals("placement/kube/test_names.py", "placement/annotations"),
        (
            ".", "-", "/", "_", "a" * 63,
        ),
        size=400,
    ),
    Target(
        "resource", kubernetes.resource,
        lambda: literals("placement/kube/test_resource_name.py"),
        (
            "hugepages-", "kubernetes.io/", "requests.", "deviceclass.resource.kubernetes.io/", "nvidia.com/gpu",
            "2Mi", "1Gi",
        ),
        size=400,
    ),
    Target(
        "time", kubernetes.time,
        lambda: literals("placement/kube/test_timestamps.py"),
        (
            "T", "Z", "+00:00", "2024-01-01", "23:59:59", ".123456789", "0001", "9999",
        ),
        size=60,
    ),
    Target(
        "duration", kubernetes.duration,
        lambda: literals("server/http/test_request_target.py"),
        (
            "h", "m", "s", "ms", "us", "ns", "?timeout=", "%C2%B5s", ".",
        ),
        size=100,
    ),
    Target(
        "review", reviews.bodies,
        reviews.body_seeds,
        (
            '"uid":', '"object":', '"oldObject":', '"kind":', '"request":', '"namespace":', '"operation":"CREATE"',
            '"apiVersion":"admission.k8s.io/v1"', "\\ud800", "null", "{", "}", "[", "]", ",", "NaN",
        ),
        size=16384, pumped=262144,
    ),
    Target(
        "object", reviews.objects,
        reviews.object_seeds,
        size=16384, pumped=0, micros=200, changed=reviews.changed,
    ),
    Target(
        "conversion", conversions.conversions,
        conversions.conversion_seeds,
        (
            '"uid":', '"desiredAPIVersion":"streams.ibm.com/v1"', '"objects":[', '"apiVersion":"streams.ibm.com/v2"',
            '"kind":"HostPool"', '"spec":', '"mode":"Exclusive"', '"exclusive":true', '"exclusive":null', '"metadata":',
            "\\ud800", "null", "{", "}", "[", "]", ",", "1e400", "-0",
        ),
        size=16384, pumped=262144, changed=reviews.changed,
    ),
    Target(
        "placement-review", placement_reviews.placement_reviews,
        placement_reviews.placement_review_seeds,
        (
            '"apiVersion":"placement.streams.ibm.com/v1"', '"kind":"PlacementReview"', '"spec":', '"manifests":[',
            '"plan":true', '"whatIf":{', '"drain":["node-a"]', '"cordon":', '"addNodes":[{', '"like":"node-b"',
            '"count":', '"shape":{', '"removePods":[{"name":"web"}]', '"metadata":', "null", "{", "}", "[", "]", ",",
        ),
        size=16384, pumped=65536, micros=400, changed=reviews.changed,
    ),
    Target(
        "watched", watched_objects.watched,
        watched_objects.watched_seeds,
        size=16384, pumped=65536, micros=200, changed=reviews.changed,
    ),
    Target(
        "queued", watched_objects.queued,
        watched_objects.queued_seeds,
        size=8192, pumped=65536, micros=200, changed=reviews.changed,
    ),
    Target(
        "application", described_kinds.applications,
        described_kinds.application_seeds,
        size=16384, pumped=65536, micros=200, changed=reviews.changed,
    ),
    Target(
        "definition", described_kinds.definitions,
        described_kinds.definition_seeds,
        (
            '"rootComponent":', '"childComponents":[', '"specDefinition":', '"scaleDefinition":', '"kind":', '"name":',
            '"podTemplateSpecPath":', '"replicasPath":', '"instanceIdPath":', '".spec.groups[].template"', " // ",
        ),
        size=8192, pumped=65536, micros=200, changed=reviews.changed,
    ),
    Target(
        "formula", described_kinds.formulas,
        described_kinds.formula_seeds,
        (
            ".spec", "[]", " // ", " or ", " and ", " == ", " < ", "+", "-", "*", "/", "if ", " then ", " else ",
            " end", "any(", "sum(", ";", "(", ")", '"a"', '["a.b"]', "1.5", "null", "true", "\x1e",
        ),
        size=800, pumped=500, micros=200,
    ),
    Target(
        "http", http_requests.connection,
        http_requests.request_seeds,
        (
            "POST /mutate HTTP/1.1\r\n", "Content-Length: ", "Transfer-Encoding: chunked\r\n", "\r\n\r\n", "\r\n",
            "Expect: 100-continue\r\n", "Content-Type: application/json\r\n", "\x1e", "0\r\n\r\n",
            "Connection: close\r\n", "Upgrade: h2c\r\n", "Host: h\r\n",
        ),
        size=8192, pumped=65536,
    ),
    Target(
        "snapshot", documents.snapshot,
        documents.snapshot_seeds,
        (
            "---\n", "...\n", "&a ", "*a", "<<: ", "!!binary ", "!!str ", "kind: ", "apiVersion: v1\n",
            "metadata:\n  name: a\n", "- ", ": ", "[", "]", "{", "}", "0x", "1e3", "1:2", "~", "|\n", "? ",
        ),
        size=8192, pumped=65536,
    ),
    Target(
        "snapshot-json", documents.snapshot_json,
        documents.json_seeds,
        (
            '"kind":', '"items":[', '"apiVersion":"v1"', '"metadata":', '"name":"a"', '"spec":', '"status":', "null",
            "[", "]", "{", "}",
        ),
        size=8192, pumped=65536,
    ),
    Target(
        "spl", documents.spl,
        documents.spl_seeds,
        (
            "composite ", "graph ", "param ", "type ", "config ", "placement:", "hostPool:", "stream<int32 a> ",
            "() as ", "@parallel(width=2)", "host(", "hostColocation(", "partitionColocation(", "createPool(",
            "expression<rstring> $", "public ", "namespace a;", "use a::*;", "for (", "logic ", "window ", "/*", "*/",
            "{", "}", "(", ")", ";", "::", '"', "'",
        ),
        size=8192, pumped=65536, micros=100,
    ),
    Target(
        "adl", documents.adl_text,
        documents.adl_seeds,
        (
            "<hostpool ", "<primitiveOperInstance ", 'index="0"', "name=", "<resources>", "<hostColocation>",
            "<hostLocation>", "<!ENTITY ", "<!DOCTYPE ", "<![CDATA[", "&amp;", "/>", "</", "<!--", "-->",
            "poolIndex=", 'size="3"',
        ),
        size=8192, pumped=65536,
    ),
    Target(
        "sab", documents.archive,
        documents.archive_seeds,
        (
            "PK\x01\x02", "PK\x03\x04", "PK\x05\x06", "bundleInfo.xml", "tar/bundle.tar", ".adl", "../", "\x00",
        ),
        size=16384, pumped=65536,
    ),
    Target(
        "tar", documents.archive_inside,
        documents.tar_seeds,
        (
            "ustar", "L", "x", "30 path=", ".adl", "././@LongLink", "\x00" * 12, "0000644", "00000001000",
        ),
        size=16384, pumped=65536,
    ),
    Target(
        "properties", documents.properties,
        documents.property_seeds,
        (
            "twister2.", "kubernetes.worker.", "=", ":", "\\\n", "\\u0041", "#", "!", "resource.", "instances",
        ),
        size=4096, pumped=65536,
    ),
    Target(
        "overlay", documents.overlay,
        documents.overlay_seeds,
        (
            '"jobConfigOverlays": ', '"deploymentConfig": ', '"fusionScheme": ', '"manual"', '"fusionTargetPeCount": ',
            '"operatorConfigs": ', '"parallelRegionConfig": ', '"nameSpec": ', '"*"', "{", "}", "[", "]", ",", "1e9",
        ),
        size=4096, pumped=65536,
    ),
    Target(
        "device-selector", kubernetes.device_selector,
        lambda: literals("placement/devices"),
        (
            "device.", "attributes[", '"gpu.example.com"', "].model", "capacity[", "].memory", "quantity(", '"40Gi"',
            ".compareTo(", ".isGreaterThan(", "semver(", "cel.bind(", ".exists(x, ", ".matches(", "(a|a)*", " == ",
            " && ", " || ", "?", ":", "!", "[?", ".orValue(", "'",
        ),
        size=2048, pumped=65536, micros=200.0,
    ),
    Target(
        "emco", documents.emco,
        documents.emco_seeds,
        (
            "metadata:", "spec:", "name: ", "- ", "hpa-intents", "POST:", "anchor: ", "body: ", "consumers:",
            "resource-requirements", "allocatable: ", "requests: ", "---\n",
        ),
        size=4096, pumped=65536,
    ),
    Target(
        "rest-json", rest_requests.json_text,
        rest_requests.json_seeds,
        (
            "{", "}", "[", "]", ",", ":", '"a"', "\\ud800", "1e400", "-0", "NaN", "Infinity", "null", "true",
            "\\u0000",
        ),
        size=2048, pumped=65536,
    ),
    Target(
        "rest-body", rest_requests.bodies,
        rest_requests.body_seeds,
        (
            '"metadata":', '"name":', '"spec":', '"consumer":', '"resource":', '"requests":', '"units":', '"app":',
            '"appName":', '"container-name":', '"value":', '"allocatable":', '"weight":', '"replicas":', "true",
            "null", "[]",
        ),
        size=4096, pumped=65536, changed=reviews.changed,
    ),
    Target(
        "rest-target", rest_requests.targets,
        rest_requests.target_seeds,
        (
            "/v2/projects/", "/composite-apps/", "/deployment-intent-groups/", "/hpa-intents",
            "/hpa-resource-consumers", "/resource-requirements", "/hpa-placement", "?limit=", "&continue=", "%2F",
            "%00", "+", "..", ";",
        ),
        size=2048, pumped=8192,
    ),
    Target(
        "stored-intent", rest_requests.stored_intent,
        rest_requests.stored_seeds,
        (
            '"hpaIntent":', '"description":', '"consumers":[', '"consumer":{', '"requirements":[', '"spec":{',
            '"name":', '"resource":{', '"metadata":{', '"replicas":', '"container-name":', "[", "]", "{", "}", "null",
            "\x1e",
        ),
        pumped=65536, micros=200,
    ),
)  # fmt: skip

TARGETS: Final = {target.name: target for target in _ALL}
