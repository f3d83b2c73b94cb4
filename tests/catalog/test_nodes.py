"""Nodes: values as they were written, typed by the field that reads them, and files that are no YAML catalogue."""

from __future__ import annotations

from decimal import Decimal

import pytest

from router_service.catalog.compose import DEPTH_MAX, compose
from router_service.catalog.located import Located
from router_service.catalog.nodes import Mapping, Scalar, Sequence, is_null, value_of
from router_service.domain.meanings import Instant
from router_service.domain.problems import Problem
from router_service.domain.readers import Each, Flag, Reader, Text, Whole

NUMBER = Whole(0, 10**9)


def composed(text: str | bytes) -> tuple[Mapping | None, list[str]]:
    """The root of a file named f, and its problems as they are printed."""
    problems: list[Located] = []
    root = compose("f", text if isinstance(text, bytes) else text.encode(), problems)
    return root, [str(one) for one in problems]


def value(written: str, reader: Reader) -> tuple[object, list[str]]:
    """The raw value of the key `k`."""
    root, found = composed(f"k: {written}\n")
    assert root is not None
    assert not found
    problems: list[Problem] = []
    return value_of(root.values["k"], reader, "k", problems), [str(one) for one in problems]


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("NO", "NO"),
        ("yes", "yes"),
        ("2411", "2411"),
        ("0528", "0528"),
        ("1.10", "1.10"),
        ("1:30", "1:30"),
        ("0x1F", "0x1F"),
        ("2024-11-20", "2024-11-20"),
        ('"2411"', "2411"),
        ("'it''s'", "it's"),
        ('"~"', "~"),
        ("'null'", "null"),
        ("nUll", "nUll"),
        ('""', ""),
        ("a # comment", "a"),
        ("a:b", "a:b"),
    ],
)
def test_text_is_what_was_written(written: str, text: str) -> None:
    assert value(written, Text()) == (text, [])


@pytest.mark.parametrize("written", ["", "~", "null", "Null", "NULL"])
@pytest.mark.parametrize("reader", [Text(), NUMBER, Flag(), Each(Text()), Instant()])
def test_nothing_is_absent(written: str, reader: Reader) -> None:
    assert value(written, reader) == (None, [])


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("0", 0),
        ("128000", 128000),
        ("-5", Decimal(-5)),
        ("+5", Decimal(5)),
        ("0.1", Decimal("0.1")),
        (".5", Decimal("0.5")),
        ("5.", Decimal(5)),
        ("1e3", Decimal(1000)),
        ("2.5E-3", Decimal("0.0025")),
        ("0.1234567890123456789", Decimal("0.1234567890123456789")),
    ],
)
def test_a_number_is_exact(written: str, number: object) -> None:
    assert value(written, NUMBER) == (number, [])


@pytest.mark.parametrize("written", ["017", "1_000", "0x10", "1:30", ".inf", ".nan", "1e9999", "five", "1,5", "9" * 41])
def test_what_parsers_disagree_on_is_no_number(written: str) -> None:
    assert value(written, NUMBER) == (written, [])


def test_a_quoted_number_is_text() -> None:
    assert value('"5"', NUMBER) == (None, ['k: "5" is text; write a number without quotes'])
    assert value('""', NUMBER) == (None, ['k: "" is text; write a number without quotes'])


@pytest.mark.parametrize(("written", "flag"), [("true", True), ("True", True), ("false", False), ("FALSE", False)])
def test_a_flag_is_true_or_false(written: str, flag: bool) -> None:
    raw, problems = value(written, Flag())
    assert raw is flag
    assert not problems


@pytest.mark.parametrize("written", ["yes", "no", "on", "off", "y", "N", "1", "0"])
def test_no_other_word_is_a_flag(written: str) -> None:
    raw, _ = value(written, Flag())
    problems: list[Problem] = []
    assert Flag().read(raw, "k", problems) is None
    assert [str(one) for one in problems] == [f'k: "{written}" is neither true nor false; write true or false']


def test_a_quoted_flag_is_text() -> None:
    assert value('"true"', Flag()) == (None, ['k: "true" is text; write true or false without quotes'])


def test_the_entries_of_a_list_are_typed_by_their_own_reader() -> None:
    assert value("[NO, 1, ~]", Each(Text())) == (["NO", "1", None], [])
    assert value("[2, '3']", Each(NUMBER)) == ([2, None], ['k[1]: "3" is text; write a number without quotes'])
    assert value("a", Each(Text())) == ("a", [])


def test_what_does_not_fit_goes_to_the_reader() -> None:
    assert value("{a: b}", Text()) == ({}, [])
    assert value("[a]", NUMBER) == ([], [])


def test_every_value_knows_where_it_stands() -> None:
    root, _ = composed("# a comment\na:\n  b: [x,\n    y]\nc:\n")
    assert root is not None
    inner = root.values["a"]
    assert isinstance(inner, Mapping)
    listed = inner.values["b"]
    assert isinstance(listed, Sequence)
    assert [(one.file, one.line, one.column) for one in listed.items] == [("f", 3, 7), ("f", 4, 5)]
    assert (inner.line, inner.column, inner.key_lines, root.key_lines) == (3, 3, {"b": 3}, {"a": 2, "c": 5})
    assert is_null(root.values["c"])


def test_an_alias_is_what_its_anchor_marks() -> None:
    root, problems = composed("a: &tags [x, y]\nb: *tags\n")
    assert root is not None
    assert not problems
    assert root.values["b"] is root.values["a"]
    assert root.values["b"].line == 1


def test_a_file_may_begin_with_a_byte_order_mark_and_a_directive() -> None:
    root, problems = composed(b"\xef\xbb\xbf%YAML 1.2\n---\na: b\n...\n")
    assert not problems
    assert root is not None
    assert isinstance(root.values["a"], Scalar)


LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9)
)
DEEP = "a: " + "[" * DEPTH_MAX + "]" * DEPTH_MAX

UNUSABLE: dict[str, tuple[str | bytes, str]] = {
    "empty": ("", "f:1: empty file; write a catalogue, or remove the file"),
    "only a comment": ("# to come\n", "f:1: empty file; write a catalogue, or remove the file"),
    "only a marker": ("---\n", "f:2: empty file; write a catalogue, or remove the file"),
    "a list": ("\n- a\n", "f:2: not a mapping; start with a key such as endpoints:"),
    "text": ("hello", "f:1: not a mapping; start with a key such as endpoints:"),
    "two documents": (
        "a: b\n---\nc: d\n",
        "f:2: a second document in one file; keep one: remove the --- and join them",
    ),
    "binary": (b"\x7fELF\n\x00\x00", "f:2: not text but binary; give a YAML file"),
    "latin-1": ("a: b\nc: caf\xe9\n".encode("latin-1"), "f:2: byte 0xe9 is no UTF-8; save the file as UTF-8"),
    "utf-16": ("a: b".encode("utf-16"), "f:1: not text but binary; give a YAML file"),
    "control": ("a:\nb: \x07", "f:2: control character U+0007; remove it"),
    "tab": ("a:\n\tb: c\n", "f:2: not YAML: found a tab character where spaces are needed; indent with spaces"),
    "tab in a text": (
        "- a\n\t- b\n",
        (
            "f:2: not YAML: found a tab character that violates indentation, "
            "while scanning a plain scalar begun in line 1; indent with spaces"
        ),
    ),
    "colon": (
        "a: b: c",
        (
            "f:1: not YAML: mapping values are not allowed in this context; "
            'check the indentation, and quote text that holds ": "'
        ),
    ),
    "at": (
        "a: @b",
        "f:1: not YAML: found character that cannot start any token; quote text that starts with @, ` or %",
    ),
    "bracket": (
        "a: [b,\nc: d\n",
        (
            "f:3: not YAML: did not find expected ',' or ']', while parsing a flow sequence begun in line 1; "
            "put a comma between entries, and close the bracket"
        ),
    ),
    "quote": (
        "a: 'b\nc: d\n",
        (
            "f:3: not YAML: found unexpected end of stream, while scanning a quoted scalar begun in line 1; "
            "close the quote"
        ),
    ),
    "indentation": (
        "a:\n  b: c\n d: e\n",
        (
            "f:3: not YAML: did not find expected key, while parsing a block mapping begun in line 1; "
            "check the indentation of this line and of those above it"
        ),
    ),
    "escape": (
        'a: "\\d"',
        r"f:1: not YAML: found unknown escape character; write \\ for a backslash, or use single quotes",
    ),
    "unknown anchor": ("a: *b", "f:1: no anchor &b before *b; define it first, or write the value out"),
    "an anchor inside itself": ("a: &b [*b]", "f:1: no anchor &b before *b; define it first, or write the value out"),
    "billion laughs": (LAUGHS, "f:5: aliases that stand for more than 100000 values; write out what is meant"),
    "deep": (DEEP, "f:1: nested more than 20 deep; a catalogue needs no such depth"),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_a_file_that_cannot_be_read_says_where_and_what_to_do(name: str) -> None:
    text, expected = UNUSABLE[name]
    assert composed(text) == (None, [expected])


@pytest.mark.parametrize("text", ["[" * 10**5, "- " * 10**5, "{a: " * 10**5])
def test_no_depth_is_too_deep_to_be_refused(text: str) -> None:
    root, problems = composed(text)
    assert root is None
    assert len(problems) == 1


ODD = {
    "twice": ("a: b\na: c\n", "f:2: a: written twice, the first time in line 1; keep one of the two"),
    "twice inside": ("x: {a: b,\n a: c}", "f:2: a: written twice, the first time in line 1; keep one of the two"),
    "merge key": ("x: &x {a: b}\ny:\n  <<: *x\n", "f:3: <<: merge keys are not supported; write the keys out"),
    "list as key": ("? [a]\n: b\n", "f:1: a key that is no text; write key: value"),
    "tag": (
        "a:\n  !!int 5",
        "f:2: tag:yaml.org,2002:int: tags are not supported; remove it; quote what is meant as text",
    ),
    "tag of a key": ("!x a: b", "f:1: !x: tags are not supported; remove it; quote what is meant as text"),
}


@pytest.mark.parametrize("name", ODD)
def test_what_is_odd_is_reported_and_the_rest_is_read(name: str) -> None:
    text, expected = ODD[name]
    root, problems = composed(text)
    assert root is not None
    assert problems == [expected]


def test_a_quoted_merge_key_is_a_key_like_any_other() -> None:
    root, problems = composed('"<<": a')
    assert not problems
    assert root is not None
    assert list(root.values) == ["<<"]


def test_problems_stay_on_one_line() -> None:
    found = Located("f", 1, Problem("a\nb", "\x1b[31mred", "write it"))
    assert str(found) == r"f:1: a\nb: \x1b[31mred; write it"
