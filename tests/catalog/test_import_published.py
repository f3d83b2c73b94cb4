"""The two catalogues as published: no row vanishes, and what comes out loads. Skipped where they are not at hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest
import yaml

from router_service.catalog.importing import (
    Imported,
    Owners,
    import_litellm,
    import_models_dev,
    read_owners,
    write_yaml,
)
from router_service.catalog.load import load
from router_service.domain.places import in_eea
from tests.catalog.importing import RATE, assert_balanced, names

PUBLISHED = Path(__file__).parents[3] / "shared" / "data"
LITELLM = PUBLISHED / "litellm_model_prices.json"
MODELS_DEV = PUBLISHED / "models_dev.json.gz"
OWNERS = PUBLISHED / "provider_jurisdiction.tsv"

pytestmark = pytest.mark.skipif(
    not all(path.is_file() for path in (LITELLM, MODELS_DEV, OWNERS)),
    reason=f"the published catalogues are not in {PUBLISHED}",
)

Importer = Callable[[Path, Owners], Imported]


def litellm(path: Path, owners: Owners) -> Imported:
    return import_litellm(path.read_bytes(), owners=owners, rate=RATE, currency="EUR")


def models_dev(path: Path, owners: Owners) -> Imported:
    return import_models_dev(path.read_bytes(), owners=owners, rate=RATE, currency="EUR")


@pytest.fixture(scope="module", params=[(litellm, LITELLM), (models_dev, MODELS_DEV)], ids=["litellm", "models.dev"])
def imported(request: pytest.FixtureRequest) -> Imported:
    importer, path = request.param
    found = importer(path, read_owners(OWNERS.read_bytes()))
    assert isinstance(found, Imported)
    return found


def test_every_row_is_accounted_for(imported: Imported) -> None:
    assert_balanced(imported)
    assert imported.report.rows_read > 4000
    assert imported.report.left_out["malformed"].count == 0


def test_there_are_text_endpoints_in_plenty(imported: Imported) -> None:
    text = [endpoint for endpoint in imported.endpoints if endpoint["model_type"] == "text"]
    assert len(text) >= 3000


def test_ids_are_unique_and_every_one_names_its_model(imported: Imported) -> None:
    known = names(imported)  # raises where an alias is not one model's alone
    ids = [str(endpoint["endpoint_id"]) for endpoint in imported.endpoints]
    assert len(set(ids)) == len(ids)
    expanded = tuple(f"@{endpoint['region']}" for endpoint in imported.endpoints if "region" in endpoint)
    for endpoint in imported.endpoints:
        endpoint_id = str(endpoint["endpoint_id"])
        found = known.resolve(endpoint_id.lower())
        if not endpoint_id.endswith(expanded):
            assert found is not None, endpoint_id
            assert found.slug == endpoint["model"]


def test_no_eu_class_stands_outside_the_eea(imported: Imported) -> None:
    classes = {(endpoint.get("sovereignty"), endpoint.get("country")) for endpoint in imported.endpoints}
    assert ("eu-hosted", "EU") in classes
    assert all(in_eea(str(country)) for sovereignty, country in classes if sovereignty in {"eu-owned", "eu-hosted"})
    assert not any(in_eea(str(country)) for sovereignty, country in classes if sovereignty == "global")


def test_no_text_endpoint_looks_free_by_mistake(imported: Imported) -> None:
    """A price of 0 is only where the source says 0; nothing per second or per image is free."""
    for endpoint in imported.endpoints:
        if "commitment" in str(endpoint["endpoint_id"]):
            assert endpoint["model_type"] != "text"
        for name in ("input_price", "output_price"):
            price = endpoint.get(name, Decimal(1))
            assert isinstance(price, Decimal)
            assert 0 <= price <= 10_000
            assert price == round(price, 6)


def test_the_document_can_be_read(imported: Imported) -> None:
    document = yaml.load(write_yaml(imported, source_name="published"), Loader=yaml.CSafeLoader)
    assert len(document["endpoints"]) == imported.report.endpoints
    assert len(document["models"]) == len(imported.models)


def test_both_load_together_as_one_catalogue(tmp_path: Path) -> None:
    owners = read_owners(OWNERS.read_bytes())
    parts = {"10.yaml": litellm(LITELLM, owners), "20.yaml": models_dev(MODELS_DEV, owners)}
    for name, part in parts.items():
        (tmp_path / name).write_text(write_yaml(part, source_name=name))
    (tmp_path / "90.yaml").write_text("policies: [{policy_id: eu}]\n")
    ids = {endpoint["endpoint_id"] for part in parts.values() for endpoint in part.endpoints}
    assert {endpoint.endpoint_id for endpoint in load(tmp_path).endpoints} == ids


def test_without_owners_nothing_has_a_class() -> None:
    found = litellm(LITELLM, Owners())
    assert not any("sovereignty" in endpoint for endpoint in found.endpoints)
    assert found.report.changed["provider_not_in_owners"].count == found.report.rows_imported


def test_london_is_not_in_the_eu() -> None:
    found = litellm(LITELLM, read_owners(OWNERS.read_bytes()))
    london = [endpoint for endpoint in found.endpoints if endpoint.get("region") == "eu-west-2"]
    assert london
    assert {(endpoint["country"], endpoint["sovereignty"]) for endpoint in london} == {("GB", "global")}


def test_the_rows_read_are_all_rows_of_the_file() -> None:
    found = litellm(LITELLM, Owners())
    assert found.report.rows_read == len(json.loads(LITELLM.read_bytes()))
