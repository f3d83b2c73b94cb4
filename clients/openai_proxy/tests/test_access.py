"""Who may call and what they may name; credentials that change while the proxy runs; TLS."""

from __future__ import annotations

import hashlib
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
import yaml

from clients.conformance.serving import serving
from clients.openai_proxy.tests.backend import Backend
from clients.openai_proxy.tests.behaviours import TEXT
from clients.openai_proxy.tests.conftest import Reports
from clients.openai_proxy.tests.world import KEY, ProxyProcess, catalogue, proxying, settings, until
from tests.server.identity.certificates import Authority

SAID: Any = [{"role": "user", "content": "Good morning?"}]


def hashed(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def answered(url: str, key: str, model: str = "good", **headers: str) -> Any:
    with openai.OpenAI(base_url=url, api_key=key, max_retries=0) as sdk:
        return sdk.chat.completions.create(model=model, messages=SAID, extra_headers=headers)


def answer_of(url: str, model: str) -> Any:
    """An answer, or None as long as there is no such model."""
    try:
        return answered(url, "k", model=model)
    except openai.NotFoundError:
        return None


def test_callers_and_their_keys(tmp_path: Path, start: Callable[..., ProxyProcess], reports: Reports) -> None:
    keys = tmp_path / "keys"
    keys.write_text(f"{hashed('key-a')} team-a\n{hashed('key-b')} team-b\n")
    proxy = start(
        keys=str(keys), access={"policies": ["owned"]}, callers={"team-b": {"policy": "poor", "deadline_ms": 5000}}
    )
    assert answered(proxy.url, "key-a").choices[0].message.content == TEXT
    with pytest.raises(openai.AuthenticationError, match="This key is not known here") as caught:
        answered(proxy.url, "key-c")
    assert caught.value.code == "invalid_api_key"
    assert caught.value.response.headers["www-authenticate"] == "Bearer"
    for path in ("/v1/models", "/v1/embeddings", "/v1/chat/completions", "/other"):
        bare = httpx2.get(proxy.root + path)
        assert (bare.status_code, bare.json()["error"]["type"]) == (401, "authentication_error")
    assert httpx2.get(f"{proxy.root}/readyz").status_code == 200  # probes have no key

    with pytest.raises(openai.ConflictError) as refused:  # its policy admits nothing as dear
        answered(proxy.url, "key-b", model="ill-then-good")
    assert refused.value.response.json()["router"]["policy_id"] == "poor"
    assert reports.router.get_trace(refused.value.request_id or "").request.deadline_ms <= 5000
    with pytest.raises(openai.ConflictError):
        answered(proxy.url, "key-b", **{"x-router-policy": "owned"})

    keys.write_text(f"{hashed('key-c')} team-c\n")
    assert answered(proxy.url, "key-c").choices
    with pytest.raises(openai.AuthenticationError):
        answered(proxy.url, "key-a")
    assert {one.get("caller") for one in proxy.logged("request")} == {"team-a", "team-b", "team-c", None}
    log = "\n".join(proxy.lines)
    assert not [secret for secret in ("key-a", "key-b", "key-c", KEY, "Good morning") if secret in log]


def test_a_credential_that_is_renewed_holds_from_the_next_request_on(
    tmp_path: Path, start: Callable[..., ProxyProcess], backend: Backend
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("first")
    base = {"endpoints": ["good@*"], "base_url": f"http://127.0.0.1:{backend.port}/good/v1"}
    proxy = start(backends=[{**base, "credential": {"file": str(secret), "header": "api-key"}}])
    answered(proxy.url, "k")
    secret.write_text("second")
    answered(proxy.url, "k")
    assert [one.headers["api-key"] for one in backend.got] == ["first", "second"]
    assert ["authorization" in one.headers for one in backend.got] == [False, False]
    # What has no backend here is left out, so the good one answers where two are cheaper.
    assert answered(proxy.url, "k", model="ill-then-good").model_extra["router"]["endpoint_id"] == "good@ill-then-good"
    assert [one.behaviour for one in backend.got] == ["good"] * 3


def test_a_new_catalogue_is_known_with_its_first_decision(tmp_path: Path, backend: Backend) -> None:
    """What is listed anew and has no backend is passed over at once, and left out a moment later."""
    catalog = tmp_path / "catalog.yaml"
    catalog.write_text(catalogue({"one": ("good",)}), "utf-8")
    arguments = ("--catalog", str(catalog), "--local-admin")
    with serving("--listen", "127.0.0.1:0", *arguments) as target:
        said = settings(target, backend.port)
        said["backends"] = [one for one in said["backends"] if one["endpoints"] == ["good@*"]]
        folder = tmp_path / "proxy"
        folder.mkdir()
        with proxying(folder, said) as proxy, openai.OpenAI(base_url=proxy.url, api_key="k") as sdk:
            assert answered(proxy.url, "k", model="one").choices
            assert [one.id for one in sdk.models.list()] == ["auto", "one"]
            catalog.write_text(catalogue({"one": ("good",), "two": ("ill", "good")}), "utf-8")
            told = until(lambda: answer_of(proxy.url, "two")).model_extra["router"]
            assert [one["endpoint_id"] for one in told["attempts"]] == ["good@two"]
            until(lambda: [one.id for one in sdk.models.list()] == ["auto", "one", "two"])
            models = {one.id: one.model_extra for one in sdk.models.list()}
            assert [one["endpoint_id"] for one in (models["two"] or {})["router"]["endpoints"]] == ["good@two"]


def test_addresses_and_names_of_models_may_be_the_catalogues(tmp_path: Path, backend: Backend) -> None:
    catalog = tmp_path / "catalog.yaml"
    address = f"http://127.0.0.1:{backend.port}"
    catalog.write_text(catalogue({"one": ("good",), "two": ("ill", "good")}, address), "utf-8")
    with serving("--listen", "127.0.0.1:0", "--catalog", str(catalog)) as target:
        said = settings(target, backend.port)
        said["backends"] = [{"endpoints": ["*"], "credential": {"env": "BACKEND_KEY"}}]
        folder = tmp_path / "proxy"
        folder.mkdir()
        with proxying(folder, said) as proxy:
            told = answered(proxy.url, "k", model="two").model_extra["router"]
            assert [one["endpoint_id"] for one in told["attempts"]] == ["ill@two", "good@two"]
            catalog.write_text(catalogue({"one": ("no-json", "good")}, address), "utf-8")
            until(lambda: answered(proxy.url, "k", model="one").model_extra["router"]["attempts"][1:])
    assert [one.path for one in backend.got[:2]] == ["/ill/v1/chat/completions", "/good/v1/chat/completions"]
    assert {one.body["model"] for one in backend.got} == {"one-by-its-other-name", "two-by-its-other-name"}
    assert {one.headers["authorization"] for one in backend.got} == {f"Bearer {KEY}"}


@dataclass(frozen=True)
class Certified:
    """A CA, and a certificate of localhost that it issued, as files."""

    ca: Path
    certificate: Path
    key: Path


def certified(folder: Path) -> Certified:
    authority = Authority()
    issued = authority.issue("localhost", "127.0.0.1").write(folder)
    return Certified(authority.write(folder), *issued)


def is_trusted(url: str, certificate: Path) -> bool:
    """Whether what serves there shows this certificate."""
    with httpx2.Client(verify=ssl.create_default_context(cafile=str(certificate))) as client:
        try:
            return client.get(url.removesuffix("/v1") + "/healthz").status_code == 200
        except httpx2.ConnectError:
            return False


def test_tls_on_both_sides(tmp_path: Path, start: Callable[..., ProxyProcess]) -> None:
    """A proxy before a proxy: the outer one trusts the inner one's certificate, and nobody else does."""
    own = certified(tmp_path)
    inner = start(tls={"certificate": str(own.certificate), "key": str(own.key)})
    assert inner.url.startswith("https://127.0.0.1:")
    with pytest.raises(openai.APIConnectionError):
        answered(inner.url, "k")
    chained = {"endpoints": ["good@*"], "base_url": inner.url}
    trusting = start(backends=[{**chained, "ca": str(own.ca)}])
    answer = answered(trusting.url, "k")
    assert answer.choices[0].message.content == TEXT
    assert answer.model_extra["router"]["attempts"][0]["endpoint_id"] == "good@good"
    doubting = start(backends=[chained])
    with pytest.raises(openai.InternalServerError, match="transient") as caught:
        answered(doubting.url, "k")
    assert caught.value.code == "endpoints_failed"
    assert is_trusted(inner.url.replace("127.0.0.1", "localhost"), own.ca)
    renewed = Authority("another")
    renewed.issue("127.0.0.1").write(tmp_path)
    ca = renewed.write(tmp_path, "new-ca")
    until(lambda: is_trusted(inner.url, ca))


def test_a_service_that_tells_its_callers_apart(tmp_path: Path, backend: Backend) -> None:
    """The proxy shows a token over TLS; its own callers' keys and the service's tokens are two matters."""
    own = certified(tmp_path)
    (tmp_path / "catalog.yaml").write_text(catalogue({"one": ("good",)}), "utf-8")
    callers = {"callers": [{"caller": "edge", "roles": ["decide", "report"], "policies": ["all"]}]}
    tokens = {"tokens": [{"sha256": hashed("the-proxys-token"), "caller": "edge"}]}
    (tmp_path / "callers.yaml").write_text(yaml.safe_dump({**callers, **tokens}), "utf-8")
    token = tmp_path / "token"
    token.write_text("not-that-one")
    arguments = ["--catalog", str(tmp_path / "catalog.yaml"), "--callers", str(tmp_path / "callers.yaml")]
    arguments += ["--tls-cert", str(own.certificate), "--tls-key", str(own.key), "--store", f"sqlite:{tmp_path}/db"]
    with serving("--listen", "tls:127.0.0.1:0", *arguments) as target:
        folder = tmp_path / "proxy"
        folder.mkdir()
        said = settings(target.removeprefix("tls:"), backend.port)
        said["service"] |= {"ca": str(own.ca), "token": {"file": str(token)}}
        with proxying(folder, said) as proxy:
            with pytest.raises(openai.InternalServerError) as caught:
                answered(proxy.url, "k", model="one")
            assert (caught.value.status_code, caught.value.code) == (503, "router_refused")
            assert "its operator's log" in caught.value.message
            assert proxy.logged("request")[-1]["error"] == "router_refused"
            token.write_text("the-proxys-token")
            assert answered(proxy.url, "k", model="one").choices[0].message.content == TEXT
            # Without the role `read` it does not learn addresses, and needs none.
            until(lambda: any("upstream models of the catalogue are not known" in one for one in proxy.lines))
            assert not any("token" in one and "-token" in one for one in proxy.lines)
        assert not any("report" in one and "request" not in one for one in proxy.lines)  # none was lost or refused


def test_what_the_configuration_refers_to_is_looked_for_at_the_start(tmp_path: Path) -> None:
    said = settings("127.0.0.1:1", 1)
    said["backends"][0]["credential"] = {"env": "NOBODY_HAS_SET_THIS"}
    (tmp_path / "proxy.yaml").write_text(yaml.safe_dump(said))
    proxy = ProxyProcess(tmp_path, said)
    assert proxy.stop(0) == 2
    assert "NOBODY_HAS_SET_THIS is not there" in proxy.lines[0]
    assert proxy.process.stderr is not None
    proxy.process.stderr.close()
