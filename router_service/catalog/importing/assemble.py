"""Drafts of rows → a catalogue document: endpoints placed and classed, models with their aliases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from router_service.catalog.importing.aliases import Claim, aliases_of
from router_service.catalog.importing.draft import Draft, documented
from router_service.catalog.importing.owners import Owners
from router_service.catalog.importing.report import LeftOut, Report
from router_service.catalog.regions import Place
from router_service.domain import words
from router_service.domain.endpoint import Endpoint
from router_service.domain.problems import InvalidValue
from router_service.domain.text import fold

Entry = dict[str, object]


@dataclass(frozen=True, slots=True)
class Imported:
    """A catalogue document in plain values, and the account of how it came about.

    `models` have `model`, `aliases` where there are any, and the `model_type` of most of their endpoints. Every
    other fact is on the endpoint that documents it: a fact on a model would also be one of the endpoints that
    another file gives the same model, which never said it. Prices are Decimals of `currency` per million tokens.
    Both lists are sorted by their ids.
    """

    currency: str
    models: list[Entry]
    endpoints: list[Entry]
    report: Report


def assemble(drafts: Sequence[Draft], *, owners: Owners, currency: str, report: Report) -> Imported:
    """The document of the drafts, and the account closed.

    Rows that the catalogue would refuse are left out here, so that what is returned always loads.
    """
    endpoints: dict[str, Entry] = {}
    claims: list[Claim] = []
    for draft in drafts:
        try:
            placed = {str(entry["endpoint_id"]): entry for entry in _endpoints(draft, owners)}
            if not endpoints.keys().isdisjoint(placed):
                raise LeftOut("duplicate_id")
            for entry in placed.values():
                Endpoint.read(entry)
        except LeftOut as reason:
            report.leave_out(reason.reason, draft.row_id)
        except InvalidValue:
            report.leave_out("malformed", draft.row_id)
        else:
            endpoints |= placed
            claims.append(Claim(fold(draft.row_id), draft.name.stem, draft.name.slug))
            report.imported(draft.row_id, draft.changes)
    report.endpoints = len(endpoints)
    return Imported(
        currency.upper(),
        _models(endpoints, aliases_of(claims, report)),
        [endpoints[endpoint_id] for endpoint_id in sorted(endpoints)],
        report,
    )


def _endpoints(draft: Draft, owners: Owners) -> Iterator[Entry]:
    if len(draft.regions) > 1:
        draft.changes.add("expanded")
    if draft.provider not in owners:
        draft.changes.add("provider_not_in_owners")
    for region in draft.regions or ("",):
        site, place = _placed(draft, region, owners)
        yield documented(
            {
                "endpoint_id": f"{draft.row_id}@{region}" if len(draft.regions) > 1 else draft.row_id,
                "model": draft.name.slug,
                "provider": draft.provider,
                "region": site,
                "country": place.country if place else "",
                "sovereignty": owners.sovereignty(draft.provider, place),
                "kind": words.HOSTED,
                "status": words.UP,
                **draft.facts,
            }
        )


def _placed(draft: Draft, region: str, owners: Owners) -> tuple[str, Place | None]:
    """The region and the place of a row in `region`; where that is empty, those of the provider's only site."""
    if region:
        place = owners.place(draft.provider, region)
        if place is None:
            draft.changes.add("region_not_located")
        return region, place
    only = owners.only_site(draft.provider)
    if not only.country:
        return "", None
    draft.changes.add("region_from_owners")
    return only.region, Place(only.country)


def _models(endpoints: Mapping[str, Entry], aliases: Mapping[str, set[str]]) -> list[Entry]:
    types: dict[str, Counter[str]] = {}
    for endpoint in endpoints.values():
        types.setdefault(str(endpoint["model"]), Counter())[str(endpoint["model_type"])] += 1
    return [
        documented(
            {
                "model": slug,
                "aliases": sorted(aliases.get(slug, ())),
                "model_type": min(types[slug], key=lambda kind: (-types[slug][kind], kind)),
            }
        )
        for slug in sorted(types)
    ]
