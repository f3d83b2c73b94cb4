"""Small catalogues in a folder, and what the loader says of them."""

from __future__ import annotations

from pathlib import Path

from router_service.catalog.load import CatalogInvalid, load
from router_service.catalog.located import Located

# What a snippet of one section needs around it; it stands after the snippet, so that lines are the snippet's own.
PARTS = {
    "currency": "currency: EUR\n",
    "models": "models: [{model: m}]\n",
    "endpoints": "endpoints: [{endpoint_id: e, model: m}]\n",
    "policies": "policies: [{policy_id: p}]\n",
}
WHOLE = "".join(PARTS.values())


def around(snippet: str) -> str:
    """A whole catalogue that begins with a snippet; sections that it has are its own."""
    return snippet.rstrip("\n") + "\n" + "".join(part for name, part in PARTS.items() if f"{name}:" not in snippet)


def write(folder: Path, **files: str) -> Path:
    """Writes YAML files by their names without suffix."""
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder


def shown(found: tuple[Located, ...], folder: Path) -> list[str]:
    """Problems as they are printed, without the folder's own path."""
    return [str(one).replace(f"{folder}/", "").replace(str(folder), "FOLDER") for one in found]


def problems_of(path: Path, folder: Path | None = None) -> list[str]:
    """What the loader says of a path; nothing where it loads."""
    try:
        load(path)
    except CatalogInvalid as invalid:
        return shown(invalid.problems, folder or path)
    return []
