"""Schema: the JSON Schema of a callers file, for editors, from the tables that the loader reads by."""

from __future__ import annotations

from router_service.callers.form import SECTIONS
from router_service.catalog.schema import DIALECT, Json, entry_schema, list_schema


def callers_schema() -> Json:
    """The schema (draft 2020-12) of one file. Nothing is required that another file of a folder may hold."""
    return {
        "$schema": DIALECT,
        "title": "Callers",
        "description": "Who may call the service, by which credentials, and what each may.",
        "type": "object",
        "properties": {section.name: list_schema(section) for section in SECTIONS},
        "additionalProperties": False,
        "$defs": {section.name: entry_schema(section) for section in SECTIONS},
    }
