"""The page about the REST interface agrees with its code: settings, paths, limits, names of objects, metrics."""

import json
import re
from typing import Final

import pytest
from msgspec import to_builtins

from tests.docs.pages import page
from tests.docs.test_pages import rows
from tests.yaml_values import loaded
from webhook.placement.annotations import hardware_text
from webhook.placement.objects import intent
from webhook.rest import intents
from webhook.rest.intents import EntityMetadata, IntentEntity
from webhook.rest.openapi import openapi_document
from webhook.rest.program import LIMITS
from webhook.rest.query_text import LIMIT
from webhook.rest.rest_setting_fields import RestSettingFields
from webhook.rest.routes import IntentGroup
from webhook.rest.storage import sqlite_store
from webhook.rest.storage.intent_objects import object_of
from webhook.server.http.limits import KIB, MIB
from webhook.setting_fields import declared, flag, variable

PAGE: Final = page("rest.md")


def test_the_table_of_settings_is_that_of_the_code() -> None:
    wanted = []
    for name, field in declared(RestSettingFields).items():
        if name not in RestSettingFields.__annotations__:
            continue
        default = {"None": "none", "": "none", "False": "no"}.get(str(field.default), f"`{field.default}`")
        wanted.append([f"`{flag(name)}`", f"`{variable(name)}`", default, field.rule.description])
    assert rows("rest.md", "Settings") == wanted


def test_every_path_is_on_the_page() -> None:
    shown = {cells[0].strip("`"): re.findall(r"`(\w+)`", cells[1]) for cells in rows("rest.md", "Paths")}
    (group,) = re.findall(r"^`(/v2/\S+)`\.$", PAGE, re.MULTILINE)
    known = {
        path.removeprefix(group): [method.upper() for method in item if method != "parameters"]
        for path, item in openapi_document()["paths"].items()
    }
    assert shown == known


OPERATIONS: Final = [
    operation
    for item in openapi_document()["paths"].values()
    for method, operation in item.items()
    if method != "parameters"
]
CODES: Final = sorted({code for operation in OPERATIONS for code in operation["responses"] if int(code) >= 400})


@pytest.mark.parametrize("code", CODES)
def test_every_status_is_on_the_page(code: str) -> None:
    section = PAGE.partition("\n## Errors\n")[2].partition("\n## ")[0]
    assert re.search(rf"^\|[ \d,]*\b{code}\b", section, re.MULTILINE)


def test_the_object_on_the_page_is_the_one_that_is_made() -> None:
    (block,) = re.findall(r"```yaml\n(apiVersion: streams.ibm.com/v1\n(?:.|\n)*?)```", PAGE)
    shown = loaded(block)
    group = IntentGroup("my-proj1", "my-capp1", "v1.0", "my-dig1")
    made = to_builtins(object_of(group, IntentEntity(EntityMetadata("fwall-hpa-intent"), "fwall")))
    made["metadata"]["namespace"] = "edge"
    assert shown == json.loads(json.dumps(made))


def test_limits() -> None:
    limits = dict(rows("rest.md", "Limits"))
    assert limits["a body"] == f"{LIMITS.body // KIB} KiB"
    assert limits["a file"] == f"{sqlite_store.SIZE_LIMIT // MIB // 1024} GiB"
    counts = f"{intent.CONSUMER_LIMIT}; {hardware_text.REQUIREMENT_LIMIT}; {intents.INTENT_LIMIT // KIB} KiB"
    assert limits["consumers of an intent; requirements of a consumer; all of an intent"] == counts
    assert f"but idle connections are closed after {LIMITS.keep_alive_seconds:g} s" in PAGE
    assert f"how many to answer with, 1 to {LIMIT};" in PAGE
