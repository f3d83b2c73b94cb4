"""What a region entry of a policy or a request matches (§1)."""

from .case import Endpoint
from .text import entry_matches

_TWENTY_SEVEN = "AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK"
EU_COUNTRIES = frozenset(_TWENTY_SEVEN.split())
EEA_COUNTRIES = EU_COUNTRIES | {"IS", "LI", "NO"}


def region_matches(entry: str, endpoint: Endpoint) -> bool:
    """Whether a folded entry matches: EU, EEA, a country of two letters, or a region id."""
    country = endpoint.country
    if entry == "eu":
        return country in EU_COUNTRIES or country == "EU"
    if entry == "eea":
        return country in EEA_COUNTRIES or country == "EU"
    if len(entry) == 2 and entry.isascii() and entry.isalpha():
        return country == entry.upper()
    return entry_matches(entry, endpoint.region)
