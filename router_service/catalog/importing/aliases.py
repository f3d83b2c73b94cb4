"""Which aliases a model needs, so that every id of the imported file names the model it was imported as."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from router_service.catalog.importing.report import Report
from router_service.domain import words
from router_service.domain.endpoint import Endpoint
from router_service.engine.model_id import ModelNames


@dataclass(frozen=True, slots=True)
class Claim:
    """A folded id of the file, the same without path and place, and the slug that both stand for."""

    row_id: str
    stem: str
    slug: str


def aliases_of(claims: Collection[Claim], report: Report) -> dict[str, set[str]]:
    """The aliases by slug: few, since an id that the engine's own steps lead to its slug needs none.

    An id is tried without its path first, since that is the form that serves every provider, and whole
    where that is not enough. One that two models claim, or that is a slug, is dropped and counted.
    """
    aliases: dict[str, set[str]] = {claim.slug: set() for claim in claims}
    dropped = _grant(aliases, [(claim.row_id, claim.stem, claim.slug) for claim in claims])
    dropped |= _grant(aliases, [(claim.row_id, claim.row_id, claim.slug) for claim in claims])
    for alias in sorted(dropped.difference(*aliases.values())):
        report.aliases_dropped.add(alias)
    return aliases


def _grant(aliases: dict[str, set[str]], wishes: Iterable[tuple[str, str, str]]) -> set[str]:
    """Give each id that does not lead to its slug the alias it wishes for; what cannot be given is returned.

    A wish is (id, alias, slug).
    """
    names = _names(aliases)
    meant: dict[str, set[str]] = {}
    needed: set[str] = set()
    for row_id, alias, slug in wishes:
        meant.setdefault(alias, set()).add(slug)
        found = names.resolve(row_id)
        if (found is None or found.slug != slug) and alias != slug:
            needed.add(alias)
    possible = {alias for alias in needed if len(meant[alias]) == 1} - aliases.keys() - words.POOL_NAMES
    for alias in possible:
        aliases[next(iter(meant[alias]))].add(alias)
    return needed - possible


def _names(aliases: Mapping[str, Iterable[str]]) -> ModelNames:
    """The names as the engine knows them: an endpoint for each model is all that it needs for that."""
    return ModelNames(
        (
            Endpoint(
                endpoint_id=slug,
                model=slug,
                aliases=tuple(sorted(known)),
                kind=words.HOSTED,
                status=words.UP,
                model_type=words.TEXT,
            )
            for slug, known in aliases.items()
        ),
        words.POOL_NAMES,
    )
