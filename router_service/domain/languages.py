"""BCP-47 language tags by their primary subtag, with ISO 639-2 codes read as the two-letter ones of ISO 639-1."""

from __future__ import annotations

import re

# Two-letter code, then its three-letter codes (terminological, and bibliographic where that differs).
_TABLE = """
aa aar|ab abk|ae ave|af afr|ak aka|am amh|an arg|ar ara|as asm|av ava|ay aym|az aze|ba bak|be bel|bg bul|bh bih|bi bis
bm bam|bn ben|bo bod tib|br bre|bs bos|ca cat|ce che|ch cha|co cos|cr cre|cs ces cze|cu chu|cv chv|cy cym wel
da dan|de deu ger|dv div|dz dzo|ee ewe|el ell gre|en eng|eo epo|es spa|et est|eu eus baq|fa fas per|ff ful|fi fin
fj fij|fo fao|fr fra fre|fy fry|ga gle|gd gla|gl glg|gn grn|gu guj|gv glv|ha hau|he heb|hi hin|ho hmo|hr hrv
ht hat|hu hun|hy hye arm|hz her|ia ina|id ind|ie ile|ig ibo|ii iii|ik ipk|io ido|is isl ice|it ita|iu iku|ja jpn
jv jav|ka kat geo|kg kon|ki kik|kj kua|kk kaz|kl kal|km khm|kn kan|ko kor|kr kau|ks kas|ku kur|kv kom|kw cor
ky kir|la lat|lb ltz|lg lug|li lim|ln lin|lo lao|lt lit|lu lub|lv lav|mg mlg|mh mah|mi mri mao|mk mkd mac|ml mal
mn mon|mr mar|ms msa may|mt mlt|my mya bur|na nau|nb nob|nd nde|ne nep|ng ndo|nl nld dut|nn nno|no nor|nr nbl
nv nav|ny nya|oc oci|oj oji|om orm|or ori|os oss|pa pan|pi pli|pl pol|ps pus|pt por|qu que|rm roh|rn run
ro ron rum|ru rus|rw kin|sa san|sc srd|sd snd|se sme|sg sag|si sin|sk slk slo|sl slv|sm smo|sn sna|so som
sq sqi alb|sr srp|ss ssw|st sot|su sun|sv swe|sw swa|ta tam|te tel|tg tgk|th tha|ti tir|tk tuk|tl tgl|tn tsn
to ton|tr tur|ts tso|tt tat|tw twi|ty tah|ug uig|uk ukr|ur urd|uz uzb|ve ven|vi vie|vo vol|wa wln|wo wol|xh xho
yi yid|yo yor|za zha|zh zho chi|zu zul
"""

TWO_LETTER: dict[str, str] = {
    three: two for row in re.split(r"[|\n]", _TABLE.strip()) for two, *threes in [row.split()] for three in threes
}

_TAG = re.compile(r"[a-z]{2,8}(-[a-z0-9]{1,8})*\Z")

MANY = "mul"  # the code of ISO 639-2 for "several languages"
UNDETERMINED = "und"


def primary_subtag(tag: str) -> str | None:
    """The primary subtag of a folded BCP-47 `tag` (`_` read as `-`): `de-at` → `de`, `deu` → `de`.

    Empty where the tag is empty or undetermined (`und`); None where it is no language tag.
    """
    tag = tag.replace("_", "-")
    if not tag:
        return ""
    if not _TAG.match(tag):
        return None
    primary = tag.split("-", 1)[0]
    return "" if primary == UNDETERMINED else TWO_LETTER.get(primary, primary)
