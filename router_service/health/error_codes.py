"""Error codes: what the error code of an answer's body speaks of (docs/reliability.md, Failure classes).

Providers write the same thing as `insufficient_quota`, `InsufficientQuota` or a sentence, so a code is compared by its
letters and digits alone, in small letters, and is known where one of these stands anywhere in it.
"""

from __future__ import annotations

import re

QUOTA = "quota"
RATE = "rate"
CREDENTIALS = "credentials"
MODEL = "model"
REQUEST = "request"
FINAL = "final"

# The first subject that one of its words stands for: what concerns the request alone comes first, since it must never
# be held against the endpoint.
_WORDS: dict[str, tuple[str, ...]] = {
    FINAL: ("xshouldretryfalse",),
    REQUEST: (
        "contentfilter",
        "contentpolicy",
        "contextlength",
        "contextwindow",
        "moderationblocked",
        "prompttoolong",
        "responsibleaipolicy",
        "safetyviolation",
        "stringabovemaxlength",
        "unsupportedparameter",
        "unsupportedvalue",
    ),
    QUOTA: (
        "accountoverdue",
        "arrearage",
        "balancenotenough",
        "billingdisabled",
        "billingerror",
        "billinghardlimit",
        "billingnotactive",
        "creditbalanceexhausted",
        "creditbalanceistoolow",
        "creditbalancetoolow",
        "exceededcurrentquota",
        "exceededyourcurrentquota",
        "insufficientbalance",
        "insufficientcredit",
        "insufficientfunds",
        "insufficientquota",
        "outofcredit",
        "paymentrequired",
        "spendinglimit",
        "spendlimit",
        "usagelimitexceeded",
    ),
    RATE: ("ratelimit", "throttling", "toomanyrequests"),
    CREDENTIALS: (
        "accountdeactivated",
        "apikeyexpired",
        "apikeyinvalid",
        "authenticationerror",
        "invalidapikey",
        "invalidauthentication",
    ),
    MODEL: ("deploymentnotfound", "modelnotfound", "modelnotexist"),
}
_NEITHER_LETTER_NOR_DIGIT = re.compile("[^a-z0-9]+")


def subject_of(error_code: str) -> str:
    """What a code speaks of; empty where it is not known or none was told."""
    code = _NEITHER_LETTER_NOR_DIGIT.sub("", error_code.lower())
    return next((subject for subject, words in _WORDS.items() if any(word in code for word in words)), "")
