"""An import as a YAML catalogue document: exact prices, quotes where YAML would misread, always in one order."""

from __future__ import annotations

import re
from decimal import Decimal

import yaml

from router_service.catalog.importing.assemble import Imported

# Plain in every YAML: begins with a letter and is none of the words that some versions read as something else.
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./@+-]*(:[A-Za-z0-9_./@+-]+)*")
_KEYWORDS = frozenset("y n yes no on off true false null nan inf".split())
_WIDTH = 10**6  # a list stays on its line


class _Dumper(yaml.CSafeDumper):
    """libyaml's emitter, with this document's forms of decimals, texts and lists."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - the base names it
        return True


def _decimal(dumper: _Dumper, value: Decimal) -> yaml.ScalarNode:
    text = f"{value:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return dumper.represent_scalar(f"tag:yaml.org,2002:{'float' if '.' in text else 'int'}", text)


def _text(dumper: _Dumper, value: str) -> yaml.ScalarNode:
    plain = _PLAIN.fullmatch(value) and value.lower() not in _KEYWORDS
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=None if plain else '"')


def _list(dumper: _Dumper, value: list[object]) -> yaml.SequenceNode:
    flow = all(isinstance(entry, str) for entry in value)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", value, flow_style=flow)


_Dumper.add_representer(Decimal, _decimal)
_Dumper.add_representer(str, _text)
_Dumper.add_representer(list, _list)


def write_yaml(imported: Imported, *, source_name: str) -> str:
    """The catalogue document, headed by a comment with the account of the import.

    `source_name` says what was imported. The same import gives the same text, byte for byte.
    """
    lines = (f"Imported from {ascii(source_name)[1:-1]}.", *imported.report.lines())
    header = "".join(f"# {line}\n" for line in lines)
    document = {
        "currency": imported.currency,
        "models": imported.models,
        "endpoints": imported.endpoints,
    }
    return header + str(
        yaml.dump(
            document,
            Dumper=_Dumper,
            sort_keys=False,
            default_flow_style=False,
            allow_unicode=True,
            width=_WIDTH,
        )
    )
