"""Events out of bytes however they are cut, and what of a stream is passed on, without a service or a socket."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from router_openai_proxy.chunks import NoChunk, with_member, without_usage
from router_openai_proxy.passage import EndpointError, Passage
from router_openai_proxy.sse import Events, TooLong

BLOCK: dict[str, Any] = {"trace_id": "t", "attempts": []}
LIMIT = 4096
UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A machine that is busy with other things finds no fault in the code."""


def chunk(delta: dict[str, Any], finish_reason: str | None = None, **more: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return sse({"id": "c", "created": 1, "model": "m", "choices": [choice], **more})


def sse(data: object) -> bytes:
    return b"data: " + json.dumps(data).encode() + b"\n\n"


ROLE = chunk({"role": "assistant", "content": ""})
WORD = chunk({"content": "Good"})
END = chunk({}, "stop")
USAGE = sse({"id": "c", "choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}})
DONE = b"data: [DONE]\n\n"


def passed(*pieces: bytes, wants_usage: bool = False) -> tuple[bytes, Passage]:
    """What went on before the end, piece by piece."""
    passage = Passage(wants_usage=wants_usage, limit=LIMIT)
    gone = b""
    for one in pieces:
        passage.feed(one)
        gone += passage.taken()
    passage.end()
    return gone + passage.taken(), passage


def data_of(ending: bytes) -> list[Any]:
    """The data of events."""
    return [
        one.data.decode() if one.data == b"[DONE]" else json.loads(one.data or b"null")
        for one in Events(LIMIT).feed(ending)
    ]


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"])
@UNHURRIED
@given(cuts=st.lists(st.integers(0, 200), max_size=12))
def test_events_are_the_same_however_the_bytes_are_cut(line_end: bytes, cuts: list[int]) -> None:
    lines = [b": hello", b"", b"data: one", b"", b"event: x", b"data: two", b"data:three", b"", b"id: 7", b"", b""]
    whole = line_end.join(lines) + b"data: last\n"
    places = sorted({0, len(whole), *(one for one in cuts if one < len(whole))})
    events = Events(LIMIT)
    found = [one for a, b in pairwise(places) for one in events.feed(whole[a:b])]
    found += events.end()
    assert [one.data for one in found] == [None, b"one", b"two\nthree", None, b"last"]
    assert b"".join(one.raw for one in found) == whole


def test_an_event_has_an_end() -> None:
    events = Events(10)
    with pytest.raises(TooLong):
        list(events.feed(b"data: and so on and so on"))


def test_nothing_goes_on_before_the_first_word_and_then_all_of_it() -> None:
    passage = Passage(wants_usage=False, limit=LIMIT)
    passage.feed(b": waiting\n\n" + ROLE)
    assert passage.taken() == b""
    assert not passage.spoke
    passage.feed(WORD)
    assert passage.taken() == ROLE + WORD  # as they came, to the byte
    passage.feed(b": still here\n\n")
    assert passage.taken() == b": still here\n\n"


def test_the_block_comes_with_the_last_chunk() -> None:
    gone, passage = passed(ROLE, WORD, END, DONE)
    assert gone == ROLE + WORD
    last, mark = data_of(passage.ending(BLOCK))
    assert (last["choices"][0]["finish_reason"], last["router"], mark) == ("stop", BLOCK, "[DONE]")


def test_tokens_that_were_not_asked_for_are_not_seen_and_known_all_the_same() -> None:
    gone, passage = passed(ROLE, chunk({"content": "Good"}, usage=None), END, USAGE, DONE)
    assert b"usage" not in gone + passage.ending(BLOCK)
    assert passage.usage is not None
    assert (passage.usage.prompt_tokens, passage.usage.completion_tokens) == (3, 2)
    last, _ = data_of(passage.ending(BLOCK))
    assert last["choices"][0]["finish_reason"] == "stop"


def test_tokens_that_were_asked_for_come_last_with_the_block() -> None:
    gone, passage = passed(ROLE, WORD, END, USAGE, DONE, wants_usage=True)
    assert gone == ROLE + WORD + END
    last, _ = data_of(passage.ending(BLOCK))
    assert last == {"id": "c", "choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}, "router": BLOCK}


def test_tokens_beside_the_end_of_the_answer() -> None:
    _, passage = passed(WORD, chunk({}, "stop", usage={"prompt_tokens": 3}), DONE)
    (last, _), told = data_of(passage.ending(BLOCK)), passage.usage
    assert "usage" not in last
    assert told is not None
    assert told.prompt_tokens == 3


def test_several_choices_end_one_after_the_other() -> None:
    gone, passage = passed(WORD, END, chunk({"content": "More"}), END, DONE)
    assert [one["choices"][0]["finish_reason"] for one in data_of(gone)] == [None, "stop", None]
    assert data_of(passage.ending(BLOCK))[0]["router"] == BLOCK


def test_an_answer_without_a_last_chunk_gets_one() -> None:
    gone, passage = passed(WORD, DONE)
    assert gone == WORD
    last, _ = data_of(passage.ending(BLOCK))
    expected = {"id": "c", "created": 1, "model": "m", "object": "chat.completion.chunk", "choices": []}
    assert last == {**expected, "router": BLOCK}


def test_an_answer_of_one_event() -> None:
    gone, passage = passed(ROLE, chunk({"content": "All of it."}, "stop"), DONE)
    assert gone == b""
    assert [one["choices"][0]["delta"] for one in data_of(passage.ending(BLOCK))[:-1]] == [
        {"role": "assistant", "content": ""},
        {"content": "All of it."},
    ]


@pytest.mark.parametrize(
    ("pieces", "whole", "empty"),
    [((ROLE, WORD), False, False), ((WORD, END), True, False), ((DONE,), True, True), ((), False, True)],
)
def test_what_is_whole(pieces: tuple[bytes, ...], whole: bool, empty: bool) -> None:
    _, passage = passed(*pieces)
    assert (passage.is_whole, passage.is_empty) == (whole, empty)


def test_an_error_among_the_events() -> None:
    passage = Passage(wants_usage=False, limit=LIMIT)
    with pytest.raises(EndpointError) as caught:
        passage.feed(WORD + sse({"error": {"message": "no"}}))
    assert json.loads(caught.value.data) == {"error": {"message": "no"}}
    assert passage.taken() == WORD  # what came before it is not lost


@pytest.mark.parametrize("data", [b"data: {\n\n", b"data: [1]\n\n", b'data: {"choices": 1}\n\n', b"data: \xff\n\n"])
def test_what_is_no_chunk(data: bytes) -> None:
    with pytest.raises(NoChunk):
        Passage(wants_usage=False, limit=LIMIT).feed(data)


def test_what_is_kept_back_has_an_end() -> None:
    passage = Passage(wants_usage=False, limit=LIMIT)
    with pytest.raises(TooLong):
        passage.feed(ROLE * 100)


WORDS = st.text(max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=8,
)


@UNHURRIED
@given(st.dictionaries(WORDS | st.just("usage") | st.just("router"), VALUES, max_size=5), st.booleans())
def test_members_are_put_in_and_taken_out_and_all_else_stays(members: dict[str, Any], spaced: bool) -> None:
    written = json.dumps(members, indent=2 if spaced else None, ensure_ascii=spaced).encode()
    assert json.loads(with_member(written, "router", BLOCK)) == {**members, "router": BLOCK}
    assert json.loads(without_usage(written)) == {name: one for name, one in members.items() if name != "usage"}


def test_numbers_keep_their_last_digit() -> None:
    exact = b'{"big": 123456789012345678901234567890, "small": 0.1000000000000000055, "usage": null}'
    assert with_member(exact, "router", {}) == exact[:-1] + b',"router":{}}'
    assert b"123456789012345678901234567890" in without_usage(exact)
    assert b"0.1000000000000000055" in without_usage(exact)
