"""Which countries count as the EU and as the EEA (docs/decision.md, Vocabulary)."""

from __future__ import annotations

# ISO 3166-1 alpha-2. Greece is GR there, not EL; territories with a code of their own are not listed.
EU: frozenset[str] = frozenset(
    "AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK".split()
)
EEA: frozenset[str] = EU | {"IS", "LI", "NO"}

# All codes that are assigned.
ISO_3166: frozenset[str] = frozenset(
    """
    AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC
    CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD
    GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH
    KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW
    MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC
    SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY
    UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW
    """.split()
)
_MISTAKEN = {"UK": "GB", "EL": "GR"}

# The country of a region that is spread over several countries of the EU, and over no other.
SEVERAL_EU = "EU"


def in_eea(country: str) -> bool:
    """Whether `country` (upper case alpha-2, or "EU" for several of the EU) lies in the EEA. Empty text does not."""
    return country in EEA or country == SEVERAL_EU


def country_problem(code: str) -> str:
    """Why `code` (upper case) is no country of ISO 3166-1 nor EU, with the cure; empty where it is one."""
    if code in ISO_3166 or code == SEVERAL_EU:
        return ""
    if code in _MISTAKEN:
        return f"write {_MISTAKEN[code]}"
    return "use two letters of ISO 3166-1, or EU for several countries of the EU"
