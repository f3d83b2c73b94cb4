"""The user's table of providers: who owns each, where in the EU/EEA it serves. All sovereignty comes from here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from router_service.catalog.regions import Place, locate
from router_service.domain import words
from router_service.domain.places import SEVERAL_EU, in_eea
from router_service.domain.problems import InvalidValue, Problem
from router_service.domain.text import fold, trim

COLUMNS = ("provider", "hq_country")  # must be there; `eu_regions` and `router` may be, others are ignored
_COUNTRY = re.compile(r"[a-z]{2}\Z")
_ISO_SPELLING = {"UK": "GB", "EL": "GR"}
_ROUTER = {"": False, "0": False, "1": True}


@dataclass(frozen=True, slots=True)
class Site:
    """Where an endpoint is: the provider's region id and a country, each empty where not documented."""

    region: str = ""
    country: str = ""


@dataclass(frozen=True, slots=True)
class Owner:
    """One provider: its owner's country (empty: not known), whether it resells others, its EU/EEA sites."""

    country: str = ""
    router: bool = False
    sites: tuple[Site, ...] = ()


@dataclass(frozen=True, slots=True)
class Owners:
    """The table, by the provider's folded name."""

    by_provider: Mapping[str, Owner] = field(default_factory=dict)

    def __contains__(self, provider: str) -> bool:
        return fold(provider) in self.by_provider

    def only_site(self, provider: str) -> Site:
        """The one site that the table gives a provider; an empty one where it gives none, or several."""
        sites = self.by_provider.get(fold(provider), Owner()).sites
        return sites[0] if len(sites) == 1 else Site()

    def place(self, provider: str, region: str) -> Place | None:
        """Where a provider's region is: by the table, else by what is publicly known of regions."""
        for site in self.by_provider.get(fold(provider), Owner()).sites:
            if site.region and fold(site.region) == fold(region):
                return Place(site.country)
        return locate(region, provider)

    def sovereignty(self, provider: str, place: Place | None) -> str:
        """The class of an endpoint of `provider` at `place`; empty where it is not documented.

        A router runs on the machines of others, so its owner makes nothing eu-owned.
        """
        owner = self.by_provider.get(fold(provider))
        if owner is None or place is None:
            return ""
        if not place.in_eea:
            return words.GLOBAL
        return words.EU_OWNED if in_eea(owner.country) and not owner.router else words.EU_HOSTED


def read_owners(source: bytes, *, name: str = "owners table") -> Owners:
    """The table that `source` holds as tab-separated UTF-8 text, its first line naming the columns.

    Empty lines and lines that start with # are skipped. Raises InvalidValue with every problem at
    once, each with its line number and its cure.
    """
    try:
        text = source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        cure = "save the table as UTF-8 text"
        raise InvalidValue(name, [Problem("", f"byte {error.start} is not UTF-8", cure)]) from None
    numbered = [
        (number, [trim(cell) for cell in line.split("\t")])
        for number, line in enumerate(text.split("\n"), start=1)
        if trim(line) and not line.startswith("#")
    ]
    first, header = (numbered[0][0], [fold(cell) for cell in numbered[0][1]]) if numbered else (1, [])
    missing = [column for column in COLUMNS if column not in header]
    if missing:
        cure = f"start the table with the line {'<TAB>'.join(COLUMNS)}"
        raise InvalidValue(name, [Problem(f"line {first}", f"no column {', '.join(missing)}", cure)])
    problems: list[Problem] = []
    owners: dict[str, Owner] = {}
    for number, cells in numbered[1:]:
        found: list[Problem] = []
        provider, owner = _read_line(header, cells, found)
        if provider and provider in owners:
            found.append(Problem("provider", f'"{provider}" a second time', "keep one of the lines"))
        owners[provider] = owner
        problems.extend(Problem(f"line {number}, {problem.field}", problem.message, problem.cure) for problem in found)
    if problems:
        raise InvalidValue(name, problems)
    return Owners(owners)


def _read_line(header: list[str], cells: list[str], problems: list[Problem]) -> tuple[str, Owner]:
    row = dict(zip(header, cells, strict=False))
    missing = [column for column in COLUMNS if column not in row]
    if missing or len(cells) > len(header):
        cure = "part the cells by one tab each, as in the first line"
        found = Problem("cells", f"{len(cells)} cells under {len(header)} columns", cure)
        problems.append(found)
        return "", Owner()
    provider = fold(row["provider"])
    if not provider:
        problems.append(Problem("provider", "empty", "name the provider as the imported file does"))
    country = _country(row["hq_country"], problems)
    router = row.get("router", "")
    if router not in _ROUTER:
        problems.append(Problem("router", f'"{router}" is neither 0 nor 1', "write 1 for a reseller, else 0"))
    entries = filter(None, map(trim, row.get("eu_regions", "").split(",")))
    sites = [site for entry in entries if (site := _site(provider, entry, problems))]
    return provider, Owner(country, _ROUTER.get(router, True), tuple(sites))


def _country(text: str, problems: list[Problem]) -> str:
    country = text.upper() if text.isascii() else text
    if country in _ISO_SPELLING:
        problems.append(Problem("hq_country", f"{country} is not in ISO 3166-1", f"write {_ISO_SPELLING[country]}"))
    elif country and (not _COUNTRY.match(country.lower()) or country == SEVERAL_EU):
        cure = "write two letters of ISO 3166-1, such as DE, or leave the cell empty"
        problems.append(Problem("hq_country", f'"{text}" is no country', cure))
    return country


def _site(provider: str, entry: str, problems: list[Problem]) -> Site | None:
    """The site that an entry of `eu_regions` names: `fr-par`, `eu01=DE`, or a country alone."""
    region, _, stated = (trim(part) for part in entry.partition("="))
    if not stated and _COUNTRY.match(fold(region)):
        region, stated = "", region
    # What is publicly known of a region holds: a table cannot move London into the EU.
    known = locate(region, provider)
    country = known.country if known else stated.upper()
    if not country and not known:
        cure = "write the region with its country, such as eu01=DE, or a country alone"
        problems.append(Problem("eu_regions", f'it is not known where "{entry}" is', cure))
    elif not in_eea(country):
        where = f"in {country}" if country else "spread over the world"
        cure = "list only what lies inside it"
        problems.append(Problem("eu_regions", f'"{entry}" is {where}, outside the EU/EEA', cure))
    elif stated and stated.upper() != country:
        problems.append(Problem("eu_regions", f'"{entry}" is in {country}', f"write {region}"))
    else:
        return Site(region, country)
    return None
