"""What of a streamed answer is to be passed on, in which form, and how it ends; reads and writes nothing itself."""

from __future__ import annotations

from router_openai_proxy.chunks import Chunk, Usage, last_chunk, read_chunk, with_member, without_usage
from router_openai_proxy.facts import Block
from router_openai_proxy.sse import DONE, Event, Events, TooLong, event


class EndpointError(Exception):
    """An event in which the endpoint gives up; `data` is what it says."""

    def __init__(self, data: bytes) -> None:
        super().__init__("the endpoint gave up")
        self.data = data


class Passage:
    """One endpoint's stream.

    Before the first word nothing is to go on, since until then another endpoint may still take over: what comes before
    (the role, comments) is kept back. The event that ends the answer is held until it is clear that it is the last: it
    gets the block `router`. Tokens that the client did not ask for are taken out.

    Attributes:
        spoke: whether there was a word that is to go on.
        done: whether the end mark came.
        finish_reason: why the answer ended; None before its end.
        usage: its tokens; None where they were not told.
    """

    def __init__(self, *, wants_usage: bool, limit: int) -> None:
        """`limit` is the most bytes of one event, and of what is kept back."""
        self._events = Events(limit)
        self._limit = limit
        self._wants_usage = wants_usage
        self._out: list[bytes] = []
        self._held: bytes | None = None
        self._last: bytes | None = None
        self.spoke = self.done = False
        self.finish_reason: str | None = None
        self.usage: Usage | None = None

    @property
    def is_whole(self) -> bool:
        """Whether the answer came to its end; some endpoints send no mark behind it."""
        return self.done or self.finish_reason is not None

    @property
    def is_empty(self) -> bool:
        """Whether there was no chunk at all."""
        return self._last is None

    def feed(self, piece: bytes) -> None:
        """More of the stream. Raises NoChunk, TooLong or EndpointError; what came before that may still be taken."""
        for one in self._events.feed(piece):
            self._take(one)
        if not self.spoke and sum(map(len, self._out)) > self._limit:
            raise TooLong

    def end(self) -> None:
        """There is no more of it. Raises as `feed` does."""
        for one in self._events.end():
            self._take(one)

    def taken(self) -> bytes:
        """What is to be passed on now; empty before the first word."""
        if not self.spoke:
            return b""
        pieces, self._out = b"".join(self._out), []
        return pieces

    def ending(self, block: Block) -> bytes:
        """The last event with the block `router`, behind what was kept back until now, and the end mark."""
        last = last_chunk(self._last or b"{}") if self._held is None else self._held
        return b"".join([*self._out, event(with_member(last, "router", block)), event(DONE)])

    def _take(self, one: Event) -> None:
        if one.data is None:
            if self.spoke:
                self._out.append(one.raw)
        elif self.done or one.data == DONE:
            self.done = True
        else:
            chunk = read_chunk(one.data)
            if chunk.error is not None:
                raise EndpointError(one.data)
            self._note(chunk)
            if self._wants_usage or not chunk.is_usage:
                self._pass_on(one, chunk)

    def _note(self, chunk: Chunk) -> None:
        self.usage = chunk.usage or self.usage
        self.finish_reason = chunk.finish_reason or self.finish_reason

    def _pass_on(self, one: Event, chunk: Chunk) -> None:
        data = self._last = one.data or b""
        if not self._wants_usage:
            data = self._last = without_usage(data)
        if self._held is not None:
            self._out.append(event(self._held))
            self.spoke = True
        if chunk.finish_reason or chunk.is_usage:
            self._held = data
        else:
            self._held = None
            self._out.append(one.raw if data == one.data else event(data))
            self.spoke = self.spoke or chunk.says_something
