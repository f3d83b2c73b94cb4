"""Blended price, mix price and estimated cost of an endpoint, in whole units (§1, §3, §4)."""

from .case import Endpoint, Request


def blended_price_times_4(endpoint: Endpoint) -> int | None:
    """Four times the blended price, in millionths; None unless both prices are documented."""
    if endpoint.input_price is None or endpoint.output_price is None:
        return None
    return 3 * endpoint.input_price + endpoint.output_price


def output_sixteenths(request: Request) -> int:
    """k: output's share of all tokens, in sixteenths, to the nearest, ties up (§4)."""
    tokens_in, tokens_out = request.input_tokens, request.output_tokens
    if tokens_in is None or tokens_out is None or tokens_in + tokens_out == 0:
        return 4
    total = tokens_in + tokens_out
    return (2 * 16 * tokens_out + total) // (2 * total)


def mix_price(endpoint: Endpoint, k: int) -> int | None:
    """Sixteen times the price by the request's mix; None unless both prices are documented."""
    if endpoint.input_price is None or endpoint.output_price is None:
        return None
    return (16 - k) * endpoint.input_price + k * endpoint.output_price


def cost_e12(endpoint: Endpoint, request: Request) -> int | None:
    """The estimated cost in 10⁻¹²: tokens times millionths per million tokens (§3)."""
    tokens_out = request.output_tokens
    # Under max_cost alone, absent output tokens count as the most that the endpoint may answer.
    if tokens_out is None and request.max_cost is not None:
        tokens_out = endpoint.max_output_tokens
    cost_in = _part(request.input_tokens, endpoint.input_price)
    cost_out = _part(tokens_out, endpoint.output_price)
    return None if cost_in is None or cost_out is None else cost_in + cost_out


def _part(tokens: int | None, price: int | None) -> int | None:
    if tokens is None:
        return None
    # A price multiplied by zero tokens is not needed.
    if tokens == 0:
        return 0
    return None if price is None else tokens * price
