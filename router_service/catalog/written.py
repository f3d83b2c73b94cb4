"""Entries as they were written: layers of keys, from one file or several, and where each key stands."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from router_service.catalog.form import Section
from router_service.catalog.located import Located
from router_service.catalog.nodes import AnyNode, Mapping, Scalar, Sequence, is_null, value_of
from router_service.domain.fields import unknown_field
from router_service.domain.problems import Problem
from router_service.domain.readers import Each


@dataclass(slots=True)
class Written:
    """One entry of a section; `layers` in the order of their files, of which a later one wins key by key.

    `name` is what its key says, empty where that says nothing; `place` is how problems name it: `endpoints[gpt@azure]`.
    """

    section: Section
    name: str
    place: str
    layers: list[Mapping] = field(default_factory=list)

    def raw(self, found: list[Located]) -> dict[str, object]:
        """The raw values of the section's fields; keys that do not belong here are added to `found`."""
        nodes: dict[str, AnyNode] = {}
        for layer in self.layers:
            for name, node in layer.values.items():
                if name in self.section.fields:
                    nodes[name] = node
                else:
                    found.append(Located(layer.file, layer.key_lines[name], self._stranger(name)))
        problems: list[Problem] = []
        fields = self.section.fields
        raw = {name: value_of(node, fields[name].reader, name, problems) for name, node in nodes.items()}
        found.extend(map(self.located, problems))
        return raw

    def _stranger(self, name: str) -> Problem:
        refused = self.section.refused.get(name)
        problem = Problem(name, *refused) if refused else unknown_field(name, self.section.fields)
        return problem.under(self.place)

    def located(self, problem: Problem) -> Located:
        """A problem of one of the fields, where the value that counts was written; else where the entry begins."""
        name, _, rest = problem.field.partition("[")
        number = rest.partition("]")[0]
        file, line = self.position(name)
        layer = self._layer_with(name)
        node = layer.values[name] if layer else None
        if number and isinstance(node, Sequence):
            item = node.items[int(number)]
            file, line = item.file, item.line
        return Located(file, line, problem.under(self.place))

    def position(self, name: str = "") -> tuple[str, int]:
        """The file and line of the key that counts; of the entry's own key where no layer has it."""
        for wanted in (name, self.section.key):
            layer = self._layer_with(wanted)
            if layer:
                return layer.file, layer.key_lines[wanted]
        return self.layers[-1].file, self.layers[-1].line

    def place_in(self, name: str, entry: object) -> str:
        """The place in a list of the entry that was read as `entry`, such as `aliases[2]`."""
        layer, reader = self._layer_with(name), self.section.fields[name].reader
        listed = layer.values[name] if layer else None
        if isinstance(listed, Sequence) and isinstance(reader, Each):
            for number, item in enumerate(listed.items):
                if reader.of.read(value_of(item, reader.of, "", []), "", []) == entry:
                    return f"{name}[{number}]"
        return name

    def _layer_with(self, name: str) -> Mapping | None:
        return next((layer for layer in reversed(self.layers) if name in layer.values), None)


def gather(section: Section, documents: Iterable[Mapping], found: list[Located]) -> list[Written]:
    """The entries of one section of all files, each with its layers; what is no entry is added to `found`."""
    known: dict[str, Written] = {}
    nameless: list[Written] = []
    for document in documents:
        for number, item in _items(section, document, found):
            name = _name_of(section, item)
            written = known.get(name)
            if written is None:
                written = Written(section, name, f"{section.name}[{name or number}]")
                if name:
                    known[name] = written
                else:
                    nameless.append(written)
            elif not section.overlays or any(layer.file == item.file for layer in written.layers):
                found.append(_twice(written, item))
                # Read on its own, so that what else is wrong with either is told too.
                written = Written(section, name, written.place)
                nameless.append(written)
            written.layers.append(item)
    return [*known.values(), *nameless]


def _items(section: Section, document: Mapping, found: list[Located]) -> Iterable[tuple[int, Mapping]]:
    listed = document.values.get(section.name)
    if listed is None or is_null(listed):
        return
    if not isinstance(listed, Sequence):
        problem = Problem(section.name, "not a list", f"write a list of entries such as - {section.key}: …")
        found.append(Located(document.file, document.key_lines[section.name], problem))
        return
    for number, item in enumerate(listed.items):
        if isinstance(item, Mapping):
            yield number, item
        else:
            message = "empty entry" if is_null(item) else "not a mapping"
            problem = Problem(f"{section.name}[{number}]", message, f"write - {section.key}: …, or remove it")
            found.append(Located(item.file, item.line, problem))


def _name_of(section: Section, item: Mapping) -> str:
    names = []
    for key in section.keys:
        node = item.values.get(key)
        if not isinstance(node, Scalar) or node.is_null:
            return ""
        names.append(section.fields[key].reader.read(node.text, "", []) or "")
    return "@".join(names) if all(names) else ""


def _twice(written: Written, again: Mapping) -> Located:
    key = written.section.key
    first = next(layer for layer in written.layers if layer.file == again.file or not written.section.overlays)
    line = first.key_lines[key]
    where = f"line {line}" if first.file == again.file else f"{first.file}:{line}"
    problem = Problem(key, f"defined twice, the first time in {where}", "join the two, or give one another name")
    return Located(again.file, again.key_lines[key], problem.under(written.place))
