"""Configurations: what they become, and that every problem of a bad one is told with its line and its cure."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from router_openai_proxy.cli import main
from router_openai_proxy.config.form import _SAYS, schema, schema_text
from router_openai_proxy.config.load import load
from router_openai_proxy.config.problems import BadConfig
from router_openai_proxy.config.values import Access, Config, Credential, Reference

PACKAGE = Path(__file__).parent.parent
HASH = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"


def loaded(folder: Path, text: str) -> Config:
    path = folder / "proxy.yaml"
    path.write_text(text, "utf-8")
    return load(path)


def problems(folder: Path, text: str) -> list[str]:
    """What is said of a bad one, each as `line: place: what`."""
    with pytest.raises(BadConfig) as caught:
        loaded(folder, text)
    *lines, count = str(caught.value).splitlines()
    assert count == f"{len(lines)} problem{'s' * (len(lines) != 1)}"
    return [line.removeprefix(f"{folder}/proxy.yaml:") for line in lines]


def test_the_shortest_one(tmp_path: Path) -> None:
    config = loaded(tmp_path, 'backends: [{endpoints: ["*"], base_url: "http://localhost:8000/v1/"}]')
    assert (config.host, config.port) == ("127.0.0.1", 8080)
    assert (config.service.target, config.service.timeout_ms, config.service.ca) == ("127.0.0.1:50051", 2000, None)
    assert (config.keys, config.tls, config.replayable, config.access, config.callers) == (
        None,
        None,
        False,
        Access(),
        {},
    )
    (backend,) = config.backends
    assert (backend.base_url, backend.credential, backend.stream_usage) == ("http://localhost:8000/v1", None, True)
    assert (config.limits.requests, config.limits.grace_ms) == (1000, 30_000)


def test_all_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MISTRAL_KEY", "s3cret")
    (tmp_path / "azure.txt").write_text("other\n")
    (tmp_path / "keys.sha256").write_text(f"{HASH} team-a\n")
    config = loaded(
        tmp_path,
        """
listen: "[::1]:0"
keys: keys.sha256
service: {target: "unix:/run/router.sock", timeout_ms: 500}
backends:
- endpoints: ["*@mistral/*"]
  base_url: https://api.mistral.example/v1
  credential: {env: MISTRAL_KEY}
  models: {mistral-large: mistral-large-2512}
  stream_usage: false
  keep_alive_ms: 10000
- endpoints: [gpt-4o@azure]
  base_url: https://azure.example/openai/v1
  credential: {file: azure.txt, header: api-key}
  model: deployment-7
  headers: {X-Title: ours}
access: {policy: eu, policies: [strict], workloads: [chat], deadline_ms: 60000}
callers: {team-a: {policy: world, workload: chat@2}}
replayable: true
limits: {grace_ms: 0, requests: 5}
""",
    )
    assert (config.host, config.port) == ("::1", 0)
    mistral, azure = config.backends
    assert mistral.credential == Credential(Reference("MISTRAL_KEY"), "Authorization", "Bearer ")
    assert azure.credential == Credential(Reference("", tmp_path / "azure.txt"), "api-key", "")
    assert (azure.model, azure.headers, mistral.models) == (
        "deployment-7",
        {"X-Title": "ours"},
        {"mistral-large": "mistral-large-2512"},
    )
    assert config.access == Access("eu", frozenset({"eu", "strict"}), "", frozenset({"chat"}), 60_000)
    team = Access("world", frozenset({"world", "strict"}), "chat@2", frozenset({"chat", "chat@2"}), 60_000)
    assert config.callers == {"team-a": team}
    assert (config.limits.grace_ms, config.limits.requests, config.replayable) == (0, 5, True)
    assert "s3cret" not in repr(config)


BAD = """\
listen: 0.0.0.0:8080
opne: 1
service: {timeout_ms: 0, certificate: a.pem, token: {file: none.txt}, target: "router:50051"}
backends:
- endpoints: []
  base_url: http://api.example.com/v1
  credential: {env: NOT_THERE}
  headers: {Authorization: x, "a b": y, Host: z, X-Two: "a\\nb"}
- endpoints: [a, b, a]
  base_url: ftp://example.com
  credential: {env: NOT_THERE, file: secret.txt}
- endpoints: [b]
  base_url: https://me:pw@example.com/v1
  credential: {file: missing.txt}
  base_url: https://example.com/v1?key=1
  model: x
  models: {}
  ca: missing.pem
- base_url: 7
callers: {team-a: {polcy: eu}}
tls: {certificate: cert.pem, key: key.pem}
limits: {requests: 1.5, stall_ms: yes}
"""
NOT_THERE = "the environment variable NOT_THERE is not there or empty; put the credential into it"


def test_everything_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("two\nlines")
    assert problems(tmp_path, BAD) == [
        "1: listen: is beyond loopback: give keys, or say `open: true` to let anybody in",
        "2: opne: there is no such key; did you mean open?",
        "3: service: needs certificate and key together, or neither of them",
        "3: service.timeout_ms: must be at least 1, and is 0",
        "3: service.token: would go over a plain connection for everybody to read; give ca",
        f"3: service.token.file: the file {tmp_path}/none.txt cannot be read: No such file or directory",
        "5: backends[0].endpoints: must not be empty",
        "6: backends[0].base_url: is plain http beyond loopback; use https, or say `plain: true`",
        f"7: backends[0].credential.env: {NOT_THERE}",
        "8: backends[0].headers.Authorization: carries credentials; name them by credential",
        "8: backends[0].headers.Host: is set by the proxy itself; leave it out",
        "8: backends[0].headers.X-Two: must be ASCII on one line",
        "8: backends[0].headers.a b: is no name of a header; use letters, digits and hyphens",
        "9: backends[1].endpoints: must name each only once",
        "10: backends[1].base_url: must begin with https:// or http:// and a host",
        "11: backends[1].credential: must have either env or file",
        f"11: backends[1].credential.env: {NOT_THERE}",
        f"11: backends[1].credential.file: the file {tmp_path}/secret.txt must hold one line of ASCII",
        "12: backends[2].endpoints[0]: b belongs to backends[1] already; name it once",
        f"14: backends[2].credential.file: the file {tmp_path}/missing.txt cannot be read: No such file or directory",
        '15: "base_url" is there twice; keep one of them',
        "15: backends[2].base_url: must end with its path: paths of the API are put behind it",
        "17: backends[2].models: is of no use beside model; keep one of them",
        "18: backends[2].ca: cannot be used: No such file or directory; give PEM files that belong together",
        "19: backends[3].base_url: must be text, and is 7",
        "19: backends[3].endpoints: is missing. Endpoint ids of the catalogue; * stands for any characters.",
        "20: callers: needs keys: without them callers are not told apart",
        "20: callers.team-a.polcy: there is no such key; did you mean policy?",
        "21: tls: cannot be used: No such file or directory; give PEM files that belong together",
        "22: limits.requests: must be a whole number, and is 1.5",
        "22: limits.stall_ms: must be a whole number, and is true",
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "1: the file is empty; it needs at least backends"),
        (
            "service: {target: 'http://router:50051'}\nbackends: [{endpoints: [a], base_url: 'http://localhost:1/v1'}]",
            '1: service.target: must be HOST:PORT or unix:/PATH, and no URL of HTTP, and is "http://router:50051"',
        ),
        ("a: [", "2: did not find expected node content; it must be one YAML document"),
        ("a: 1\n---\nb: 2", "2: but found another document; it must be one YAML document"),
        ("[]", "1: must be a mapping, and is []"),
        ("{}", "1: backends: is missing. Who answers for which endpoints"),
        ("listen: nowhere", "1: listen: must be HOST:PORT, such as 127.0.0.1:8080"),
        ("listen: 127.0.0.1:70000", "1: listen: must have a port of at most 65535"),
        ("keys: none.txt", "1: keys: "),
    ],
)
def test_other_problems(text: str, told: str, tmp_path: Path) -> None:
    assert any(one.startswith(told) for one in problems(tmp_path, text)), problems(tmp_path, text)


def test_keys_and_callers_must_fit(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text(f"# ours\n{HASH} team-a\nnonsense\n{HASH} team-b\n")
    text = 'keys: keys\nbackends: [{endpoints: ["*"], base_url: "http://[::1]:1/v1"}]\n'
    (told,) = problems(tmp_path, text)
    assert told == (
        f"1: keys: {tmp_path}/keys: line 3 is not a SHA-256 in hex and a caller's name; "
        "line 4 gives a key to team-b that is team-a's"
    )
    (tmp_path / "keys").write_text(f"{HASH} *team-a\n")  # as sha256sum writes it
    assert problems(tmp_path, text + "callers: {team-c: {}}") == [
        "3: callers.team-c: has no key in keys; there are keys of team-a"
    ]


def keywords(part: Any) -> Iterator[str]:
    """The keywords of a schema that say what a value must be."""
    if isinstance(part, list):
        for one in part:
            yield from keywords(one)
    elif isinstance(part, dict):
        for name, one in part.items():
            if name in {"properties", "$defs"}:
                yield from (word for inner in one.values() for word in keywords(inner))
            elif name not in {"title", "description", "default", "$schema", "$comment", "$ref"}:
                yield name
                yield from keywords(one)


def test_the_schema_is_one_and_each_of_its_keywords_has_words() -> None:
    Draft202012Validator.check_schema(schema())
    assert set(keywords(schema())) - {"items", "required", "additionalProperties"} <= _SAYS.keys()


def documented(part: Any, path: str = "") -> Iterator[tuple[str, bool]]:
    """Every key of the schema and whether it is described."""
    if isinstance(part, dict):
        for name, one in part.get("properties", {}).items():
            yield f"{path}.{name}", bool(one.get("description"))
            yield from documented(one, f"{path}.{name}")
        for inner in ("items", "additionalProperties"):
            yield from documented(part.get(inner), f"{path}[]")
        for name, one in part.get("$defs", {}).items():
            yield from documented(one, name)


def test_every_key_is_documented_and_in_the_example() -> None:
    keys = dict(documented(schema()))
    assert len(keys) > 40
    assert [name for name, described in keys.items() if not described] == []
    example = (PACKAGE / "example.yaml").read_text("utf-8")
    names = {name.rpartition(".")[2] for name in keys}
    assert [one for one in names if not re.search(rf"\b{one}:", example)] == []


def test_the_example_is_good(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("MISTRAL_API_KEY", "AZURE_API_KEY"):
        monkeypatch.setenv(name, "s")
    assert main(["--config", str(PACKAGE / "example.yaml"), "--check"]) == 0
    assert "good; " in capsys.readouterr().out


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--schema"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(schema_text())
    assert main(["--config", str(tmp_path / "none.yaml"), "--check"]) == 2
    assert "cannot be read: No such file or directory" in capsys.readouterr().err
    with pytest.raises(SystemExit) as ended:
        main(["--check"])
    assert ended.value.code == 2


def test_an_address_in_use_is_said_plainly(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        path = tmp_path / "proxy.yaml"
        path.write_text(f'listen: 127.0.0.1:{port}\nbackends: [{{endpoints: ["*"], base_url: "http://[::1]:1/v1"}}]')
        command = [sys.executable, "-m", "router_openai_proxy", "--config", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert re.fullmatch(rf"cannot listen on 127\.0\.0\.1:{port}: .*[Aa]ddress already in use.*\n", done.stderr)
