"""Addresses of endpoints: what is one, its canonical form and its parts."""

from __future__ import annotations

import re

import pytest

from router_service.domain.addresses import Address, BaseUrl, address_of
from router_service.domain.problems import Problem


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("https://api.example.eu/v1", "https://api.example.eu/v1"),
        ("HTTPS://API.Example.eu:443/V1/", "https://api.example.eu/V1"),
        ("  http://10.0.0.7:8000  ", "http://10.0.0.7:8000"),
        ("http://10.0.0.7:80/", "http://10.0.0.7"),
        ("https://[2001:DB8::7]:8443/openai/v1", "https://[2001:db8::7]:8443/openai/v1"),
        ("http://vllm", "http://vllm"),
        ("https://r.example.com/v1/projects/p-1/locations/eu/endpoints/openapi", None),
    ],
)
def test_an_address_has_one_canonical_form(written: str, canonical: str | None) -> None:
    problems: list[Problem] = []
    assert BaseUrl().read(written, "address", problems) == (canonical or written)
    assert not problems


@pytest.mark.parametrize(
    "written",
    [
        "",
        "api.example.eu",
        "ftp://api.example.eu",
        "https://",
        "https:///v1",
        "https://user:secret@api.example.eu",
        "https://api.example.eu/v1?key=secret",
        "https://api.example.eu/v1#part",
        "https://api.example.eu/a b",
        "https://api.example.eu//v1",
        "https://api.example.eu:0/v1",
        "https://api.example.eu:65536/v1",
        "https://api_example.eu",
        "https://-api.example.eu",
        "https://999.0.0.1",
        "https://1.2.3",
        "https://[::1",
        "https://[api]",
        "https://[1::2::3]",
        "https://[1:2]",
        "https://[:::]",
        "https://[::12345]",
        "https://[fe80::1%25eth0]",
        "https://" + "a" * 300,
        7,
        None,
    ],
)
def test_what_is_no_address_is_refused_with_a_cure(written: object) -> None:
    problems: list[Problem] = []
    assert BaseUrl().read(written, "address", problems) is None
    assert [problem.field for problem in problems] == ["address"]
    assert "https://api.example.eu/v1" in problems[0].cure


def test_parts() -> None:
    assert address_of("https://api.example.eu/v1") == Address("https", "api.example.eu", 443, "/v1")
    six = address_of("http://[::1]:8000")
    assert six is not None
    assert (six.is_ip, six.host, six.host_and_port, six.authority) == (True, "::1", "[::1]:8000", "[::1]:8000")
    four = address_of("http://10.0.0.7/v1")
    assert four is not None
    assert (four.is_ip, four.host_and_port, four.authority) == (True, "10.0.0.7:80", "10.0.0.7")
    named = address_of("https://api.example.eu")
    assert named is not None
    assert not named.is_ip


def test_the_schema_takes_what_the_reader_takes() -> None:
    pattern = BaseUrl().schema()["pattern"]
    for good in ("https://api.example.eu/v1", "http://[::1]:8000", "HTTP://a"):
        assert re.search(pattern, good)
    for bad in ("api.example.eu", "https://a/v1?x=1", "https://u@h"):
        assert not re.search(pattern, bad)
