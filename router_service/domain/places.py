"""Which countries count as the EU and as the EEA (docs/decision.md, Vocabulary)."""

from __future__ import annotations

# ISO 3166-1 alpha-2. Greece is GR there, not EL; territories with a code of their own are not listed.
EU: frozenset[str] = frozenset(
    "AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK".split()
)
EEA: frozenset[str] = EU | {"IS", "LI", "NO"}

# The country of a region that is spread over several countries of the EU, and over no other.
SEVERAL_EU = "EU"


def in_eea(country: str) -> bool:
    """Whether `country` (upper case alpha-2, or "EU" for several of the EU) lies in the EEA. Empty text does not."""
    return country in EEA or country == SEVERAL_EU
