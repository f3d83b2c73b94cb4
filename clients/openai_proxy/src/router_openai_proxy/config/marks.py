"""YAML with its lines: plain values, and where in the file each of them stands."""

from __future__ import annotations

from typing import Any, NamedTuple

import yaml

Path = tuple[str | int, ...]


class Located(NamedTuple):
    """A document: its plain value, the line (from 1) of each place in it, and what is wrong with it as YAML."""

    value: Any
    lines: dict[Path, int]
    problems: list[tuple[int, str]]

    def line(self, path: Path) -> int:
        """The line of a place, or of the nearest one around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


def read(text: str) -> Located:
    """A document of one YAML text; of YAML that does not parse the value is None."""
    located = Located(None, {}, [])
    try:
        loader = yaml.CSafeLoader(text)
        try:
            node = loader.get_single_node()
            value = None if node is None else _value(loader, node, (), located)
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as wrong:
        mark = wrong.problem_mark or wrong.context_mark
        told = f"{wrong.problem or wrong.context}; it must be one YAML document"
        return located._replace(problems=[(mark.line + 1 if mark else 1, told)])
    except yaml.YAMLError as wrong:
        return located._replace(problems=[(1, f"{wrong}; it must be YAML in UTF-8")])
    return located._replace(value=value)


def _value(loader: yaml.CSafeLoader, node: yaml.Node, path: Path, located: Located) -> Any:
    located.lines.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.SequenceNode):
        return [_value(loader, one, (*path, number), located) for number, one in enumerate(node.value)]
    if not isinstance(node, yaml.MappingNode):
        return loader.construct_object(node)
    found: dict[str, Any] = {}
    for key_node, value_node in node.value:
        key, line = str(key_node.value), key_node.start_mark.line + 1
        if key in found:
            located.problems.append((line, f'"{key}" is there twice; keep one of them'))
        located.lines[*path, key] = line
        found[key] = _value(loader, value_node, (*path, key), located)
    return found
