"""Schema: the JSON Schema of a catalogue file, for editors, from the same tables that the loader reads by."""

from __future__ import annotations

from typing import Any

from router_service.catalog.form import CIRCUITS, SECTIONS, SETTINGS, Section
from router_service.domain.fields import Field

Json = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def catalog_schema() -> Json:
    """The schema (draft 2020-12) of one file. Nothing is required that another file of a folder may hold."""
    return {
        "$schema": DIALECT,
        "title": "Catalogue",
        "description": "Models, the endpoints where they can be called, and what requests are held to.",
        "type": "object",
        "properties": {
            **{name: _property(one) for name, one in SETTINGS.items()},
            **{section.name: list_schema(section) for section in SECTIONS},
            CIRCUITS.name: {"description": CIRCUITS.about, **_or_null({"$ref": f"#/$defs/{CIRCUITS.name}"})},
        },
        "additionalProperties": False,
        "$defs": {section.name: entry_schema(section) for section in (*SECTIONS, CIRCUITS)},
    }


def list_schema(section: Section) -> Json:
    """The schema of a section's list, which refers to its entry among `$defs`."""
    return {"description": section.about, "type": ["array", "null"], "items": {"$ref": f"#/$defs/{section.name}"}}


def entry_schema(section: Section) -> Json:
    """The schema of one entry of a section."""
    return {
        "title": section.name,
        "description": section.about,
        "type": "object",
        "properties": {name: _property(one, section.defaults.get(name)) for name, one in section.fields.items()},
        # A later file overlays an entry by its key and any of the rest.
        "required": [key for key in section.keys if key],
        "additionalProperties": False,
    }


def _property(field: Field, default: str | None = None) -> Json:
    """A field's own schema with its description; null, which is "not documented", unless the field is required."""
    schema = _without_empty_entries(dict(field.reader.schema()))
    note = schema.pop("description", "")
    if not field.required:
        schema = _or_null(schema)
    described = {"description": f"{field.about} ({note})" if note else field.about, **schema}
    return described if default is None else {**described, "default": default}


def _or_null(schema: Json) -> Json:
    if "enum" in schema:
        return {**schema, "enum": [*schema["enum"], None]}
    if "$ref" in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    kinds = schema["type"]
    return {**schema, "type": [*(kinds if isinstance(kinds, list) else [kinds]), "null"]}


def _without_empty_entries(schema: Json) -> Json:
    """An empty entry of a list is malformed anywhere."""
    items = schema.get("items")
    return {**schema, "items": {"minLength": 1, **items}} if items and "enum" not in items else schema
