"""A row on its way to endpoints: what its format says, before owners, aliases and the catalogue's own checks."""

from __future__ import annotations

from dataclasses import dataclass, field

from router_service.catalog.importing.report import LeftOut
from router_service.catalog.importing.slugs import Name, is_usable_id, name_of
from router_service.domain.words import POOL_NAMES

_EMPTY: tuple[object, ...] = ("", [])


@dataclass(slots=True)
class Draft:
    """One row that is a model at a provider. `facts` are an endpoint's, by the names of docs/decision.md.

    `regions` are all that the row documents; several become one endpoint each.
    """

    row_id: str
    provider: str
    name: Name
    regions: tuple[str, ...]
    facts: dict[str, object]
    changes: set[str] = field(default_factory=set)


def named(row_id: str, model_id: str) -> Name:
    """The model that a row's id names. Raises LeftOut for an id that the catalogue cannot hold."""
    if not is_usable_id(row_id) or not is_usable_id(model_id):
        raise LeftOut("bad_id")
    name = name_of(model_id)
    if name.slug in POOL_NAMES:
        raise LeftOut("pool_name")
    return name


def documented(facts: dict[str, object]) -> dict[str, object]:
    """The facts that say something: absent, empty and unknown ones are left out, false and 0 are not."""
    return {name: value for name, value in facts.items() if value is not None and value not in _EMPTY}
