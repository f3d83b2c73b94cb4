"""A real server process that knows its callers, over TLS, with a store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from router_service.v1.catalog_service_pb2_grpc import CatalogServiceStub
from router_service.v1.router_service_pb2_grpc import RouterServiceStub
from tests.callers.files import token_of
from tests.server.conftest import ServerProcess
from tests.server.identity.secured import AUTHORITY, CATALOG, callers


class Known:
    """A server's process, whose files are in `folder`."""

    def __init__(self, folder: Path, process: ServerProcess) -> None:
        self.folder, self.process = folder, process
        self.target = process.wait_for(r"^listening on (\S+) \(TLS\)")[1]
        self.mutual = process.wait_for(r"^listening on (\S+) \(TLS, clients' certificates\)")[1]
        self._channels: list[grpc.Channel] = []

    def channel(self, target: str, credentials: grpc.ChannelCredentials) -> grpc.Channel:
        """A channel of its own, closed at the end."""
        self._channels.append(grpc.secure_channel(target, credentials))
        return self._channels[-1]

    def known(self, caller: str) -> Stubs:
        """Stubs that show the token of a caller."""
        return Stubs(self.channel(self.target, grpc.ssl_channel_credentials(AUTHORITY.pem)), token_of(caller))

    def certified(self, caller: str) -> Stubs:
        """Stubs that show a certificate of a caller."""
        mine = AUTHORITY.issue(f"{caller}.internal")
        return Stubs(self.channel(self.mutual, grpc.ssl_channel_credentials(AUTHORITY.pem, mine.key, mine.cert)))

    def close(self) -> None:
        """Ends all."""
        for channel in self._channels:
            channel.close()
        self.process.stop()


class Stubs:
    """Calls methods by their names with a token, and without where that is empty."""

    def __init__(self, channel: grpc.Channel, token: str = "") -> None:
        self._channel = channel
        self._stubs = (RouterServiceStub(channel), CatalogServiceStub(channel))
        self.metadata = (("authorization", f"Bearer {token}"),) if token else ()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        found = next(getattr(stub, name) for stub in self._stubs if hasattr(stub, name))
        return lambda message, **more: found(message, metadata=self.metadata, timeout=60, **more)

    def raw(self, path: str, message: Any, answer: Any, *more: tuple[str, str]) -> Any:
        """The first answer to one message on a stream, by the full name of its method."""
        multi = self._channel.stream_stream(path, type(message).SerializeToString, answer.FromString)
        return next(multi(iter([message]), metadata=(*self.metadata, *more), timeout=60))


@contextmanager
def known_server(folder: Path, *flags: str, text: str = "") -> Iterator[Known]:
    """A process over CATALOG and the callers of `text`, by default those of the roles."""
    (folder / "catalog.yaml").write_text(CATALOG)
    (folder / "callers.yaml").write_text(text or callers())
    cert, key = AUTHORITY.issue("localhost", "127.0.0.1").write(folder)
    files = ("--tls-cert", str(cert), "--tls-key", str(key), "--tls-client-ca", str(AUTHORITY.write(folder)))
    listen = ("--listen", "tls:127.0.0.1:0", "--listen", "mtls:127.0.0.1:0")
    who = ("--callers", str(folder / "callers.yaml"), "--catalog", str(folder / "catalog.yaml"))
    known = Known(folder, ServerProcess(*listen, *files, *who, "--store", f"sqlite:{folder}/router.db", *flags))
    try:
        yield known
    finally:
        known.close()


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Known]:
    """One server for the tests of a module, with stateless mode and Envoy's doors."""
    flags = ("--stateless", "--envoy-authz", "--envoy-processing")
    with known_server(tmp_path_factory.mktemp("known"), *flags) as server:
        yield server
