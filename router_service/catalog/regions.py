"""A provider's region id → where on earth it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from router_service.catalog.region_tables import (
    CLOUDS,
    GEOGRAPHIES,
    PROVIDER_ONLY,
    PROVIDER_WORDS,
)
from router_service.domain.places import in_eea
from router_service.domain.text import fold

_SPREAD = "-"
_WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a region is: ISO 3166-1 alpha-2, "EU" for several countries of the EU and no other.

    An empty country is known too: a spread over several countries that is not inside the EU.
    """

    country: str

    @property
    def in_eea(self) -> bool:
        """Whether all of the region lies in the EU/EEA."""
        return in_eea(self.country)


def _rows(table: str) -> Iterator[tuple[str, Place]]:
    for row in re.split(r"[|\n]", table.strip()):
        country, *regions = row.split()
        for region in regions:
            yield region, Place("" if country == _SPREAD else country)


def _merged(clouds: dict[str, dict[str, Place]]) -> dict[str, Place]:
    """What a region id means where nobody says whose it is.

    AWS' ids are the ones that people write without a provider, so they hold; any other id that two
    clouds use for different places means nothing by itself.
    """
    places: dict[str, set[Place]] = {}
    for regions in clouds.values():
        for region, place in regions.items():
            places.setdefault(region, set()).add(place)
    agreed = {region: next(iter(found)) for region, found in places.items() if len(found) == 1}
    merged = agreed | clouds["aws"] | _GEOGRAPHIES
    return {region: place for region, place in merged.items() if region not in PROVIDER_ONLY}


_GEOGRAPHIES = dict(_rows(GEOGRAPHIES))
_CLOUDS = {cloud: dict(_rows(table)) for cloud, table in CLOUDS.items()}
_ANY_CLOUD = _merged(_CLOUDS)


def cloud_of(provider: str) -> str:
    """The cloud (a key of `CLOUDS`) whose region ids a provider uses; empty where none is known.

    The first known word of the name decides: `vertex_ai-mistral_models` is Google's, and
    `huggingface_scaleway` Scaleway's.
    """
    words = _WORD.findall(fold(provider))
    return next((PROVIDER_WORDS[word] for word in words if word in PROVIDER_WORDS), "")


def locate(region: str, provider: str = "") -> Place | None:
    """Where a region is, or None where that is not known.

    `region` is the provider's own id, trimmed and compared without regard to ASCII case. `provider`
    settles ids that mean different places (`eu-west-1` is Dublin at AWS and London at Alibaba): of a
    known cloud only its own ids count, so that nothing is located by a coincidence of names.
    """
    region = fold(region)
    cloud = cloud_of(provider)
    if not cloud:
        return _ANY_CLOUD.get(region)
    return _CLOUDS[cloud].get(region) or _GEOGRAPHIES.get(region)
