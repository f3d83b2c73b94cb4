"""Where two answers differ, by the rules of the vectors' README: exact but for three fields."""

import re
from collections.abc import Iterator
from typing import Any

RAW_TOLERANCE = 1e-12

# Of the details only the two forms that §3's text gives are compared.
_COMPARED_DETAIL = re.compile(r'needs [0-9]+ tokens, window [0-9]+|matched deny entry ".*"')


def differences(got: Any, want: Any, *, all_details: bool = False) -> list[str]:
    """Every difference as "path: got …, want …"; none where the answers agree."""
    return list(_differences(got, want, "", all_details=all_details))


def _differences(got: Any, want: Any, path: str, *, all_details: bool) -> Iterator[str]:
    field = path.rpartition(".")[2]
    if field == "steps":
        got, want = sorted(got), sorted(want)
    if isinstance(got, dict) and isinstance(want, dict):
        for key in sorted(got.keys() | want.keys()):
            if key in got and key in want:
                inner = f"{path}.{key}"
                yield from _differences(got[key], want[key], inner, all_details=all_details)
            else:
                yield f"{path}: {key} only in {'got' if key in got else 'want'}"
    elif isinstance(got, list) and isinstance(want, list) and len(got) == len(want):
        for index, (one, other) in enumerate(zip(got, want, strict=True)):
            yield from _differences(one, other, f"{path}[{index}]", all_details=all_details)
    elif field == "detail" and not all_details and not _COMPARED_DETAIL.fullmatch(want):
        return
    elif not _agree(field, got, want):
        yield f"{path}: got {got!r}, want {want!r}"


def _agree(field: str, got: Any, want: Any) -> bool:
    if field == "raw":
        return bool(abs(got - want) <= RAW_TOLERANCE)
    return bool(got == want) and isinstance(got, bool) == isinstance(want, bool)
