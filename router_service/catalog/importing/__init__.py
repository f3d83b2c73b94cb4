"""The two public catalogues, LiteLLM's and models.dev's → endpoints, with an account of every row."""

from __future__ import annotations

from router_service.catalog.importing.assemble import Imported
from router_service.catalog.importing.document import write_yaml
from router_service.catalog.importing.litellm import import_litellm
from router_service.catalog.importing.models_dev import import_models_dev
from router_service.catalog.importing.owners import Owner, Owners, Site, read_owners
from router_service.catalog.importing.reading import UnreadableSource
from router_service.catalog.importing.report import Report, Tally

__all__ = [
    "Imported",
    "Owner",
    "Owners",
    "Report",
    "Site",
    "Tally",
    "UnreadableSource",
    "import_litellm",
    "import_models_dev",
    "read_owners",
    "write_yaml",
]
