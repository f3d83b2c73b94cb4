"""Small endpoints and cases for tests by hand, and what the oracle says of them in short."""

from .case import JsonDict
from .oracle import decide, explain

NOW = 1_790_000_000_000


def make_endpoint(**facts: object) -> JsonDict:
    """An endpoint in France that every default lets pass, save for the facts given."""
    return {
        "endpoint_id": "e",
        "model": "m",
        "aliases": [],
        "provider": "p",
        "region": "fr-par",
        "country": "FR",
        "sovereignty": "eu-hosted",
        "kind": "hosted",
        "status": "up",
        "model_type": "text",
        "input_modalities": ["text"],
        **facts,
    }


def make_case(*catalog: JsonDict, policy: JsonDict | None = None, request: JsonDict | None = None) -> JsonDict:
    """A case of these endpoints at NOW."""
    return {
        "catalog": list(catalog),
        "policy": {"policy_id": "p", **(policy or {})},
        "request": request or {},
        "now": NOW,
    }


def reasons_of(case: JsonDict) -> list[str]:
    """The rows that refuse the one endpoint of a case."""
    (told,) = explain(case)["endpoints"]
    return [row["reason"] for row in told["refused_by"]]


def candidates_of(case: JsonDict) -> list[str]:
    """The ids of a decision's candidates, in their order."""
    return [candidate["endpoint_id"] for candidate in decide(case)["decision"]["candidates"]]
