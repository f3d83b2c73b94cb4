"""Facts of endpoints grouped in one pass, slice by slice, so that whoever compiles an index can do other work too."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any

from router_service.domain.endpoint import Endpoint
from router_service.domain.text import fold
from router_service.engine.bits import PrefixSets, bitset

# Endpoints in one slice: compiling one takes some 30 µs, so a slice stays well below a millisecond or two.
SLICE = 32


def blended_by_four(endpoint: Endpoint) -> int | None:
    """Four times the blended price, in millionths: 3 × input + output; None unless both prices are documented."""
    if endpoint.input_price is None or endpoint.output_price is None:
        return None
    return 3 * endpoint.input_price + endpoint.output_price


# A group is known by its name and holds, for every value of a fact, the endpoints that have it.
_GROUPS: dict[str, Callable[[Endpoint], Iterable[Hashable]]] = {
    "class": lambda one: (one.sovereignty,),
    "slug": lambda one: (one.model,),
    "kind": lambda one: (one.kind,),
    "status": lambda one: (one.status,),
    "type": lambda one: (one.model_type,),
    "modality": lambda one: one.input_modalities,
    "tools": lambda one: (one.tools,),
    "level": lambda one: (one.structured_output,),
    "model_class": lambda one: one.model_classes,
    "provider": lambda one: (fold(one.provider),),
    "place": lambda one: ((one.country, fold(one.region)),),
    "tag": lambda one: one.tags,
    "language": lambda one: one.strong_languages,
    "speed": lambda one: (one.tokens_per_second,),
    "prices": lambda one: ((one.input_price, one.output_price, one.max_output_tokens),),
}

_NUMBERS: dict[str, Callable[[Endpoint], int | None]] = {
    "window": lambda one: one.context_window,
    "output_limit": lambda one: one.max_output_tokens,
    # 3 × input + output: four times the blended price, so that the ceiling is compared in integers.
    "blended": blended_by_four,
    "retirement": lambda one: one.retires_at,
    "suppression": lambda one: one.suppressed_until,
}


class Facts:
    """The positions of endpoints by the values of their facts. To be gathered before use."""

    def __init__(self, endpoints: Sequence[Endpoint]) -> None:
        self._endpoints = endpoints
        self.positions: dict[str, dict[Any, list[int]]] = {name: defaultdict(list) for name in _GROUPS}
        self._numbers: dict[str, list[tuple[int, int]]] = {name: [] for name in _NUMBERS}
        self.sets: dict[str, dict[Any, int]] = {}
        self.prefixes: dict[str, PrefixSets] = {}

    def gather(self) -> Iterator[None]:
        """One pass over the endpoints, then a set for every value."""
        yield from self._pass()
        size = len(self._endpoints)
        for name, group in self.positions.items():
            sets = self.sets[name] = {}
            for key, members in group.items():
                sets[key] = bitset(members, size)
                if len(sets) % SLICE == 0:
                    yield
            yield
        for name, values in self._numbers.items():
            prefix = self.prefixes[name] = PrefixSets(values, size)
            yield from prefix.compile()

    def _pass(self) -> Iterator[None]:
        groups = [(keys, self.positions[name]) for name, keys in _GROUPS.items()]
        numbers = [(fact, self._numbers[name]) for name, fact in _NUMBERS.items()]
        for position, endpoint in enumerate(self._endpoints):
            for keys, group in groups:
                for key in keys(endpoint):
                    group[key].append(position)
            for fact, values in numbers:
                value = fact(endpoint)
                if value is not None:
                    values.append((value, position))
            if position % SLICE == 0:
                yield
