"""Circuits: the one mapping of thresholds that the files of a catalogue may state together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from router_service.catalog.form import CIRCUITS
from router_service.catalog.located import Located
from router_service.catalog.nodes import Mapping, Scalar, is_null, value_of
from router_service.catalog.written import Written
from router_service.domain.problems import InvalidValue, Problem
from router_service.domain.thresholds import Thresholds


def read_circuits(documents: Iterable[Mapping], found: list[Located]) -> Thresholds:
    """The thresholds of all files, the defaults where none states any; what is wrong is added to `found`."""
    written = Written(CIRCUITS, "", CIRCUITS.name)
    for document in documents:
        node = document.values.get(CIRCUITS.name)
        if isinstance(node, Mapping):
            written.layers.append(node)
        elif not is_null(node):
            cure = f"write keys under it, such as {next(iter(CIRCUITS.fields))}: …"
            problem = Problem(CIRCUITS.name, "not a mapping", cure)
            found.append(Located(document.file, document.key_lines[CIRCUITS.name], problem))
    found.extend(_disagreements(written))
    try:
        return Thresholds.read(written.raw(found))
    except InvalidValue as invalid:
        found.extend(map(written.located, invalid.problems))
        return Thresholds()


def _disagreements(written: Written) -> Iterator[Located]:
    """Keys that two files state differently: which of them holds must not hang on the names of the files."""
    first: dict[str, tuple[object, str, Mapping]] = {}
    for layer in written.layers:
        for name, node in layer.values.items():
            field = CIRCUITS.fields.get(name)
            if field is None or not isinstance(node, Scalar):
                continue
            value = field.reader.read(value_of(node, field.reader, "", []), "", [])
            if value is None and not node.is_null:
                continue  # malformed, which is told as that
            said = node.text or "nothing"
            before, text, other = first.setdefault(name, (value, said, layer))
            if value != before:
                message = f"{said} here, {text} in {other.file}:{other.key_lines[name]}"
                problem = Problem(name, message, "a catalogue has one: keep one")
                yield Located(layer.file, layer.key_lines[name], problem.under(written.place))
