"""The stubs of proto/ in every language: a module each, with one form.

`FOLDERS` are wholly generated, as paths in the repository. `missing()` names what of the language's toolchain is not on
this machine, or is empty. `stubs()` gives every generated file by its path in the repository.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from stubs import go, java, python, typescript


class Language(Protocol):
    """What a module of this package has."""

    @property
    def FOLDERS(self) -> tuple[Path, ...]:  # noqa: N802 - a constant of the module
        """What is wholly generated."""

    def missing(self) -> str:
        """What of the toolchain is not here, for a person; empty where it is all here."""

    def stubs(self) -> dict[Path, str]:
        """Every generated file by its path in the repository. Raises CalledProcessError where a generator fails."""


LANGUAGES: dict[str, Language] = {"go": go, "java": java, "python": python, "typescript": typescript}
