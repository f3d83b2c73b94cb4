"""What the tests of the importers share: the samples, and a look into what came of a row."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from router_service.catalog.importing import Imported, Owners, Report, read_owners
from router_service.domain.endpoint import Endpoint
from router_service.domain.words import POOL_NAMES
from router_service.engine.model_id import ModelNames

DATA = Path(__file__).parent.parent / "data"
RATE = Decimal("0.92")


def sample_owners() -> Owners:
    return read_owners((DATA / "owners_sample.tsv").read_bytes())


def by_id(imported: Imported) -> dict[str, dict[str, Any]]:
    return {str(endpoint["endpoint_id"]): endpoint for endpoint in imported.endpoints}


def left_out(report: Report) -> dict[str, list[str]]:
    return {reason: sorted(tally.examples) for reason, tally in report.left_out.items() if tally.count}


def names(imported: Imported) -> ModelNames:
    """The engine's reading of the document; raises where it would not load."""
    models: Mapping[object, dict[str, Any]] = {model["model"]: model for model in imported.models}
    endpoints = [
        Endpoint.read({**endpoint, "aliases": models[endpoint["model"]].get("aliases")})
        for endpoint in imported.endpoints
    ]
    return ModelNames(endpoints, POOL_NAMES)


def assert_balanced(imported: Imported) -> None:
    """Every row is accounted for, and only expanded rows gave more than one endpoint."""
    report = imported.report
    assert report.rows_read == report.rows_imported + report.rows_left_out
    assert report.endpoints == len(imported.endpoints)
    extra = report.endpoints - report.rows_imported
    assert extra >= report.changed["expanded"].count
    assert bool(extra) == bool(report.changed["expanded"].count)
    for tally in (*report.left_out.values(), *report.changed.values()):
        assert len(tally.examples) == min(tally.count, 5)
