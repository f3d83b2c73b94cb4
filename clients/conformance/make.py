"""Writes the vectors that are numbers: time_division.json, waiting.json, execution_keys.json. Run it by hand.

It imports no client library, and computes otherwise than they do: shares as fractions of powers of 32/45 where they use
whole numbers, lists by recursion, canonical texts written here by hand of RFC 8785 with only their hash computed.
"""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
STEP = Fraction(32, 45)
UINT32 = 2**32 - 1
Case = dict[str, Any]


def divided(left: int, count: int) -> list[int]:
    """Every attempt gets 32/45 of the one before it."""
    first = Fraction(left) / sum(STEP**i for i in range(count))
    return [floor(first * STEP**i) for i in range(count)]


def listed(left: int, needs: list[int], room: int, chosen: tuple[int, ...] = (), at: int = 0) -> tuple[int, ...]:
    """Places of those among whom the time is divided: the first, then each that leaves all needs covered."""
    if at == len(needs) or len(chosen) == room:
        return chosen
    longer = (*chosen, at)
    covered = all(time >= needs[place] for time, place in zip(divided(left, len(longer)), longer, strict=True))
    if at == 0 and not covered:
        return ()
    return listed(left, needs, room, longer if covered else chosen, at + 1)


def division(deadline: int, gone: int, needs: list[int], room: int) -> Case:
    """One division before one attempt."""
    left = deadline - min(300, deadline // 20) - gone
    places = listed(left, needs, room)
    times = divided(left, len(places)) if places else []
    return {
        "deadline_ms": deadline,
        "gone_ms": gone,
        "needs_ms": needs,
        "attempts_left": room,
        "expect": {"left_ms": left, "among": list(places), "allowances_ms": times, "starts": bool(places)},
    }


def time_division() -> Case:
    """Allowances as such, and the division anew before an attempt."""
    pure = [(8000, 2), (8000, 3), (8000, 1), (0, 3), (1, 2), (44, 2), (4489, 3), (7999, 3), (100000, 5)]
    pure += [(UINT32, 3), (UINT32, 8), (UINT32 - 7, 16), (123456789, 12)]
    anew = [
        (8000, 0, [600, 600, 600], 3),
        (8000, 25, [600, 600, 600], 3),
        (8000, 4000, [600, 600], 2),
        (8000, 7000, [600], 1),
        (8000, 7100, [600], 1),
        (8000, 7101, [600], 1),
        (8000, 7600, [600], 1),
        (8000, 7700, [600], 1),
        (8000, 9000, [600], 1),
        (8000, 6500, [600, 600], 2),  # not both: the first gets all that is left
        (8000, 6500, [600, 600, 100], 3),  # the second does not fit, the third does
        (8000, 6500, [1300, 100], 2),
        (8000, 0, [8000, 100], 2),
        (8000, 0, [600, 600, 600, 600, 600], 2),
        (2000, 0, [100, 100, 100], 3),
        (19, 0, [0], 1),
        (20, 0, [19, 0], 2),
        (5999, 0, [600], 1),
        (6000, 0, [600], 1),
        (6001, 0, [600], 1),
        (0, 0, [0], 3),
        (UINT32, 0, [600, 600, 600], 3),
        (UINT32, 1, [UINT32, 1], 2),
    ]
    return {
        "about": "How the time left is divided over attempts, and anew before each of them, the time gone by counted.",
        "allowances": [{"spendable_ms": left, "attempts": n, "expect_ms": divided(left, n)} for left, n in pure],
        "before_an_attempt": [division(*one) for one in anew],
    }


def waiting() -> Case:
    """Full jitter by hand, and a Retry-After in its place."""
    jitter = [
        *[(0, 0.0, 0), (0, 0.5, 100), (0, 0.999, 199), (1, 0.5, 200), (1, 0.25, 100), (2, 0.5, 400), (3, 0.5, 800)],
        *[(4, 0.5, 1000), (4, 0.75, 1500), (5, 0.5, 1000), (40, 0.5, 1000), (1000, 0.25, 500), (3, 0.125, 200)],
    ]
    pause = [
        (3000, 1000, 500, 5000, 2000),
        (3000, 1000, 500, 2500, 2000),
        (3000, 1000, 500, 2499, None),
        (0, 0, 500, 500, 0),
        (0, 0, 500, 499, None),
        (1000, 4000, 500, 600, 0),
        (40000, 0, 500, 8000, None),
        (30000, 0, 500, None, 30000),
        (60000, 0, 500, None, 60000),
        (60001, 0, 500, None, None),
    ]
    names = ("retry_after_ms", "since_ms", "need_ms", "left_ms", "expect_ms")
    return {
        "about": "How long to wait before an endpoint is tried again; null: it is not tried again.",
        "jitter": [{"retries": k, "draw": draw, "expect_ms": wait} for k, draw, wait in jitter],
        "retry_after": [dict(zip(names, one, strict=True)) for one in pause],
    }


# The arguments as JSON text, and their canonical form.
TEXTS = [
    ("{}", "{}"),
    ("[]", "[]"),
    (' { "b" : 1 , "a" : [ true , false , null ] } ', '{"a":[true,false,null],"b":1}'),
    ('{"z":{"y":{"x":[{"b":1,"a":2}]}}}', '{"z":{"y":{"x":[{"a":2,"b":1}]}}}'),
    ('{"10":1,"9":2,"a":3,"A":4,"":5}', '{"":5,"10":1,"9":2,"A":4,"a":3}'),
    # By UTF-16 units, the surrogates of U+1F600 come before U+FB33, though its code point is greater.
    (
        (
            '{"\\u20ac":"Euro","\\r":"CR","\\ufb33":"Dalet","1":"One","\\ud83d\\ude00":"Smiley","\\u0080":"Control",'
            '"\\u00f6":"o"}'
        ),
        '{"\\r":"CR","1":"One","\x80":"Control","ö":"o","€":"Euro","😀":"Smiley","\ufb33":"Dalet"}',
    ),
    (
        (
            '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],'
            '"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}'
        ),
        (
            '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
            '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
        ),
    ),
    ("[0,-0,-0.0,0.0,1.0,-1.0,1e0]", "[0,0,0,0,1,-1,1]"),
    ("[1e20,1e21,123456789012345680000,1.5e300]", "[100000000000000000000,1e+21,123456789012345680000,1.5e+300]"),
    ("[1e-6,1e-7,0.00000123,-1.5e-9]", "[0.000001,1e-7,0.00000123,-1.5e-9]"),
    (
        "[5e-324,1.7976931348623157e308,9007199254740992,-9007199254740992,0.1,0.30000000000000004]",
        "[5e-324,1.7976931348623157e+308,9007199254740992,-9007199254740992,0.1,0.30000000000000004]",
    ),
    ("[9007199254740991,1e23,12345.678,100,1200,0.5]", "[9007199254740991,1e+23,12345.678,100,1200,0.5]"),
    ('"\\u0000\\u0008\\u0009\\u000a\\u000c\\u000d\\u001f\\u007f"', '"\\u0000\\b\\t\\n\\f\\r\\u001f\x7f"'),
    ('"\\u2028 \\u00e9 e\\u0301"', '"\u2028 é e\u0301"'),  # nothing is normalised
    (
        '{"to":"DE89370400440532013000","amount":12.30,"note":"Grüße"}',
        '{"amount":12.3,"note":"Grüße","to":"DE89370400440532013000"}',
    ),
]
REFUSED = ["9007199254740993", "[NaN]", "[Infinity]", "1e400", '"\\ud800"', '{"\\udfff":1}']


def execution_keys() -> Case:
    """Canonical texts and their keys."""
    cases = []
    for number, (text, canonical) in enumerate(TEXTS):
        operation, tool = (("op-1", "transfer"), ("Auftrag 7/ä", "mail.send"))[number % 2]
        key = hashlib.sha256(b"\0".join(one.encode() for one in (operation, tool, canonical))).hexdigest()
        cases.append(
            {"operation_id": operation, "tool_name": tool, "arguments": text, "canonical": canonical, "key": key}
        )
    return {
        "about": "Keys of side effects: canonical JSON (RFC 8785) of a tool call's arguments, and its SHA-256.",
        "cases": cases,
        "refused": [{"arguments": text} for text in REFUSED],
    }


def write(name: str, document: Case) -> None:
    """One case a line, so that a change shows what it changed."""
    parts = []
    for key, value in document.items():
        lines = ",\n".join(f"    {json.dumps(one, ensure_ascii=False)}" for one in value) if key != "about" else ""
        parts.append(f'  "{key}": ' + (f"[\n{lines}\n  ]" if lines else json.dumps(value, ensure_ascii=False)))
    (HERE / name).write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    write("time_division.json", time_division())
    write("waiting.json", waiting())
    write("execution_keys.json", execution_keys())
