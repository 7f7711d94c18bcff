"""The page ``/docs``: the OpenAPI document for people, as one page of HTML without scripts and outside assets."""

import base64
import hashlib
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any, Final

_STYLE: Final = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 0 auto; padding: 1rem; }
code, h3 { font-family: ui-monospace, monospace; overflow-wrap: anywhere; }
h2 { margin-top: 3rem; border-bottom: 1px solid; }
h3 { font-size: 1rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid #8888; }
"""

CONTENT_POLICY: Final = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; style-src 'sha256-"
    + base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    + "'"
)
"""Content-Security-Policy of the page: nothing but its own style sheet."""

_METHODS: Final = ("get", "post", "put", "delete")

Json = Mapping[str, Any]


def docs_page(document: Json) -> bytes:
    """The HTML of the page."""
    info = document["info"]
    parts = [
        f"<h1>{escape(info['title'])}</h1>",
        f"<p>{escape(info['description'])} Version {escape(info['version'])}. ",
        'For programs: <a href="/openapi.json">openapi.json</a>.</p>',
        "<h2>Requests</h2>",
        *_operations(document),
        "<h2>Bodies and answers</h2>",
        *_schemas(document["components"]["schemas"]),
    ]
    head = (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(info['title'])}</title><style>{_STYLE}</style></head><body>"
    )
    return f"{head}{''.join(parts)}</body></html>".encode()


def _operations(document: Json) -> Iterator[str]:
    for path, item in document["paths"].items():
        for method in (method for method in _METHODS if method in item):
            operation = item[method]
            yield f"<h3>{method.upper()} {escape(path)}</h3><p>{escape(operation.get('summary', ''))}.</p>"
            parameters = operation.get("parameters", ())
            if parameters:
                rows = ((escape(each["name"]), each["in"], escape(each.get("description", ""))) for each in parameters)
                yield _table(("parameter", "in", "meaning"), rows)
            if "requestBody" in operation:
                yield f"<p>Body: {_type(_schema_of(operation['requestBody']))}</p>"
            yield _table(("status", "meaning", "body"), _responses(operation["responses"]))


def _responses(responses: Json) -> Iterator[tuple[str, str, str]]:
    for code, response in sorted(responses.items()):
        body = _type(_schema_of(response)) if "content" in response else ""
        yield code, escape(response["description"]), body


def _schema_of(described: Json) -> Json:
    """The schema of the only media type."""
    (media,) = described["content"].values()
    schema: Json = media["schema"]
    return schema


def _schemas(schemas: Json) -> Iterator[str]:
    for name, schema in sorted(schemas.items()):
        yield f'<h3 id="{escape(name)}">{escape(name)}</h3><p>{escape(schema.get("description", ""))}</p>'
        required = schema.get("required", ())
        rows = (
            (escape(field), _type(said), "required" if field in required else "", escape(said.get("description", "")))
            for field, said in schema.get("properties", {}).items()
        )
        yield _table(("field", "type", "", "meaning"), rows)


def _type(schema: Json) -> str:
    """A schema in words, as HTML, with links to the schemas that it refers to."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " or ".join(_type(each) for each in schema[key] if each.get("type") != "null")
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}" if schema.get("items") else "list"
    if "enum" in schema:
        return " or ".join(f"<code>{escape(str(each))}</code>" for each in schema["enum"])
    return escape(str(schema.get("type", "any")))


def _table(heads: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    """A table; the cells are HTML already."""
    top = "".join(f'<th scope="col">{head}</th>' for head in heads)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
