"""Load: files become a content, or every problem of every file at once, each with file, line and cure."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from router_service.catalog.load import CatalogInvalid, Located, load
from router_service.catalog.snapshot import Snapshot
from router_service.domain.endpoint import FIELDS as ENDPOINT_FIELDS
from router_service.domain.endpoint import Endpoint
from router_service.domain.policy import FIELDS as POLICY_FIELDS
from router_service.domain.policy import Policy
from router_service.domain.request import Stated
from router_service.domain.thresholds import Thresholds
from router_service.domain.workload import FIELDS as WORKLOAD_FIELDS
from router_service.domain.workload import Workload
from tests.catalog.yaml_files import WHOLE, around, problems_of, write

EXAMPLE = Path(__file__).resolve().parents[2] / "router_service" / "catalog" / "example.yaml"

EVERYTHING = """
currency: eur
default_policy: strict
pool_names: [Any, best]
models:
  - model: Mistral-Large
    aliases: [mistral-large-2411]
    vendor: mistralai
    model_version: 2411
    model_type: text
    input_modalities: [text, image]
    context_window: 128000
    max_output_tokens: 16384
    input_price: 2
    output_price: 6.000001
    parameters_b: 123.5
    tags: [Coding, rag]
    model_classes: [document-extraction]
    strong_languages: [no, de]
    tools: true
    structured_output: json-schema
endpoints:
  - endpoint_id: two
    model: mistral-large
    provider: azure
    region: norwayeast
    country: NO
    sovereignty: eu-hosted
    kind: partner
    status: degraded
    retires_at: 2027-01-31
    latency_ms: 420
    tokens_per_second: 62.5
    error_rate: 0.004
    address: HTTPS://Api.example.EU:443/openai/v1/
    upstream_model: Mistral-Large-2411
    output_price: ~
    tools: false
    tags: []
  - {endpoint_id: one, model: mistral-large}
policies:
  - policy_id: strict
    residency: [eu-owned]
    regions: [NO, EEA]
    provider_allow: ["*"]
    provider_deny: [a]
    model_allow: [mistral-*]
    model_deny: [b]
    partner_endpoints: true
    max_price: 0.1234567
    exact_models: true
    retention: 90d
    data_classes: [Public, internal]
    require_data_class: true
    daily_budget: 12.5
    default_reservation: 0.01
    time_zone: Europe/Berlin
    budget_fail_open: true
workloads:
  - name: Invoices
    version: 1.10
    task: Coding
    language: de-AT
    residency: eu-owned
    regions: [NO]
    input_tokens: 0
    output_tokens: 100
    expected_output_tokens: 10
    modalities: [text, image]
    requires_tools: true
    structured_output: strict
    model_classes: [Document-Extraction]
    max_price: 0.1234567
    max_cost: 0.5
    deadline_ms: 9000
    max_attempts: 2
    schema_id: Invoice-v3
  - {version: 1.9, name: invoices, model_classes: []}
circuits:
  failures_in_row: 3
  failure_share: 0.25
"""


def test_every_field_arrives(tmp_path: Path) -> None:
    content = load(write(tmp_path, a=EVERYTHING))
    one, two = content.endpoints
    assert (content.currency, content.default_policy, content.pool_names) == ("EUR", "strict", ("any", "best"))
    assert one == Endpoint(
        endpoint_id="one",
        model="mistral-large",
        kind="hosted",
        status="up",
        model_type="text",
        aliases=("mistral-large-2411",),
        vendor="mistralai",
        model_version="2411",
        input_modalities=("text", "image"),
        context_window=128000,
        max_output_tokens=16384,
        input_price=2_000_000,
        output_price=6_000_001,
        parameters_b=123.5,
        tags=("coding", "rag"),
        model_classes=("document-extraction",),
        strong_languages=("no", "de"),
        tools=True,
        structured_output="json-schema",
    )
    assert (two.region, two.country, two.sovereignty) == ("norwayeast", "NO", "eu-hosted")
    assert (two.kind, two.status, two.retires_at) == ("partner", "degraded", 1_801_353_600_000)
    assert (two.latency_ms, two.tokens_per_second, two.error_rate) == (420, Fraction(125, 2), 0.004)
    assert (two.address, two.upstream_model) == ("https://api.example.eu/openai/v1", "Mistral-Large-2411")
    # What an endpoint states overrides its model; null is "not documented here".
    assert (two.input_price, two.output_price, two.tools, two.tags) == (2_000_000, None, False, ())
    assert content.policies == (
        Policy(
            policy_id="strict",
            residency=("eu-owned",),
            regions=("NO", "EEA"),
            provider_allow=("*",),
            provider_deny=("a",),
            model_allow=("mistral-*",),
            model_deny=("b",),
            partner_endpoints=True,
            max_price=123_456,
            exact_models=True,
            retention="90d",
            data_classes=("public", "internal"),
            require_data_class=True,
            daily_budget=12_500_000,
            default_reservation=10_000,
            time_zone="Europe/Berlin",
            budget_fail_open=True,
        ),
    )


def test_every_workload_and_threshold_arrives(tmp_path: Path) -> None:
    content = load(write(tmp_path, a=EVERYTHING))
    assert content.workloads == (
        Workload(name="invoices", version="1.9", needs=Stated()),
        Workload(
            name="invoices",
            version="1.10",
            schema_id="Invoice-v3",
            needs=Stated(
                task="coding",
                language="de",
                residency="eu-owned",
                regions=("NO",),
                input_tokens=0,
                output_tokens=100,
                expected_output_tokens=10,
                modalities=("text", "image"),
                requires_tools=True,
                structured_output="strict",
                model_classes=("document-extraction",),
                max_price=123_456,
                max_cost=500_000,
                deadline_ms=9000,
                max_attempts=2,
            ),
        ),
    )
    assert content.thresholds == Thresholds(failures_in_row=3, failure_share=0.25)


def test_every_field_is_in_that_test() -> None:
    given_elsewhere = {"suppressed_until"}
    for name in (*ENDPOINT_FIELDS, *POLICY_FIELDS, *WORKLOAD_FIELDS):
        assert f" {name}: " in EVERYTHING or name in given_elsewhere


def test_the_example_loads() -> None:
    content = load(EXAMPLE)
    assert content.default_policy in {policy.policy_id for policy in content.policies}
    assert Snapshot.of(content, 0).index.size == len(content.endpoints)


def test_the_example_counts_norway_to_the_eea() -> None:
    assert [one.country for one in load(EXAMPLE).endpoints if one.region == "norwayeast"] == ["NO"]


@pytest.mark.parametrize("country", ["NO", "no", '"NO"', "'No'"])
def test_norway_needs_no_quotes(tmp_path: Path, country: str) -> None:
    text = around(f"endpoints: [{{endpoint_id: e, model: m, country: {country}, sovereignty: eu-hosted}}]")
    assert load(write(tmp_path, a=text)).endpoints[0].country == "NO"


def test_the_order_of_files_and_keys_is_no_part_of_the_version(tmp_path: Path) -> None:
    parts = WHOLE.splitlines()
    for name, lines in (("a", parts), ("b", parts[::-1])):
        (tmp_path / name).mkdir()
        write(tmp_path / name, **{f"{name}{number}": line for number, line in enumerate(lines)})
    assert load(tmp_path / "a").version() == load(tmp_path / "b").version()


CASES = (Path(__file__).parent / "problems.txt").read_text(encoding="utf-8").split("\n## ")[1:]


@pytest.mark.parametrize("case", CASES, ids=[case.partition("\n")[0] for case in CASES])
def test_a_problem_says_where_what_and_what_to_do(tmp_path: Path, case: str) -> None:
    snippet, _, problem = case.partition("\n")[2].partition("\n=> ")
    assert problems_of(write(tmp_path, a=around(snippet))) == [problem.strip()]


def test_a_single_file_is_named_as_it_was_given(tmp_path: Path) -> None:
    path = write(tmp_path, a=around("endpoints: []")) / "a.yaml"
    assert problems_of(path, tmp_path) == [
        "a.yaml: endpoints: none; list at least one: an empty catalogue refuses every request"
    ]


def test_all_problems_come_at_once_in_order(tmp_path: Path) -> None:
    write(
        tmp_path,
        a="models:\n- {model: m, tools: 1, context_window: -1}\n- {model: m2, colour: red}\n",
        b="endpoints:\n- {endpoint_id: e, model: m3}\n- {endpoint_id: f, model: m, status: x, country: EUR}\n",
        c="a: b: c",
    )
    assert [one.split(";")[0] for one in problems_of(tmp_path)] == [
        'a.yaml:2: models[m].tools: "1" is neither true nor false',
        "a.yaml:2: models[m].context_window: -1 makes no sense",
        "a.yaml:3: models[m2].colour: unknown field",
        'b.yaml:3: endpoints[f].status: unknown word "x"',
        'b.yaml:3: endpoints[f].country: "EUR" is no country',
        # What c.yaml may hold is not called missing: no currency, no policies, no model m3.
        "c.yaml:1: not YAML: mapping values are not allowed in this context",
    ]


def test_a_problem_of_a_model_is_told_once_for_all_its_endpoints(tmp_path: Path) -> None:
    snippet = "models: [{model: m, input_price: -1}]\nendpoints:\n" + "".join(
        f"- {{endpoint_id: e{number}, model: m}}\n" for number in range(3)
    )
    assert problems_of(write(tmp_path, a=around(snippet))) == [
        "a.yaml:1: models[m].input_price: -1 makes no sense; use a number from 0 to 10000"
    ]


def test_a_limit_is_rounded_down_and_an_amount_is_exact(tmp_path: Path) -> None:
    text = around(
        "models: [{model: m, input_price: 0.1, output_price: 1e-6}]\npolicies: [{policy_id: p, max_price: 0.1}]"
    )
    content = load(write(tmp_path, a=text))
    endpoint = content.endpoints[0]
    assert (endpoint.input_price, endpoint.output_price) == (100_000, 1)
    assert content.policies[0].max_price == int(Decimal("0.1") * 10**6)


MARKS = """- |: |  |[|]|{|}|, |&a |*a|<<: |? |"|'|~|true|1e999|-0|!!str |#|\t|\0|\u2028|\u0085|>|%""".split("|")
MORE = ("workloads:", "workloads: [{name: w, version: 1}]", "circuits: {open_ms: 5}", "circuits:", *WORKLOAD_FIELDS)
PIECES = st.sampled_from([*WHOLE.splitlines(), *ENDPOINT_FIELDS, *POLICY_FIELDS, *MORE, *MARKS, "\n", "---\n", "| "])


@given(st.binary() | st.text().map(str.encode) | st.lists(PIECES).map("".join).map(str.encode))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_bytes_make_it_fail_otherwise(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "any.yaml"
    path.write_bytes(data)
    problems: tuple[Located, ...] = ()
    try:
        content = load(path)
        assert Snapshot.of(content, 0).version == content.version()
    except CatalogInvalid as invalid:
        problems = invalid.problems
    for one in problems:
        assert str(one).isprintable()
        assert one.problem.message
        assert one.problem.cure
        assert 0 <= one.line <= len(data) + 1
