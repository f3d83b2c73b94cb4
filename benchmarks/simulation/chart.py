"""Chart: shares of primary picks over time, as an SVG that is legible on light and on dark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

_WIDTH, _HEIGHT = 760, 340
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 20, 46, 48
_INK, _GRID = "#7d8590", "#7d859055"
# Colours with enough contrast to white and to black alike; the dashes tell the lines apart without them.
_LINES = (("#2f81f7", ""), ("#bf8700", "7 4"), ("#8b949e", "2 3"), ("#d0569b", "12 3 2 3"))


def chart(shares: Mapping[str, Sequence[float]], bin_s: float, began_s: float, ended_s: float, what: str) -> str:
    """One line for each name; `shares` are 0 to 1, of stretches of `bin_s` each. The fault is shaded."""
    lasts = bin_s * max(map(len, shares.values()))
    frame = f'viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" font-size="12" fill="{_INK}" role="img"'
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" {frame}>', f"<title>{what}</title>"]
    lines += _axes(lasts, began_s, ended_s, what)
    for number, (name, points) in enumerate(shares.items()):
        colour, dashes = _LINES[number]
        stroke = f'fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes or "none"}"'
        path = " ".join(f"{_x((at + 0.5) * bin_s, lasts):.1f},{_y(share):.1f}" for at, share in enumerate(points))
        left = _LEFT + 170 * number
        lines.append(f'<polyline points="{path}" {stroke}/>')
        lines.append(f'<line x1="{left}" y1="18" x2="{left + 30}" y2="18" {stroke}/>')
        lines.append(f'<text x="{left + 36}" y="22">{name}</text>')
    return "\n".join((*lines, "</svg>")) + "\n"


def _axes(lasts: float, began_s: float, ended_s: float, what: str) -> Iterator[str]:
    shaded = f'x="{_x(began_s, lasts):.1f}" width="{_x(ended_s, lasts) - _x(began_s, lasts):.1f}"'
    yield f'<rect {shaded} y="{_TOP}" height="{_HEIGHT - _TOP - _BOTTOM}" fill="#cf222e" fill-opacity="0.1"/>'
    for percent in range(0, 101, 20):
        y = _y(percent / 100)
        yield f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{_WIDTH - _RIGHT}" y2="{y:.1f}" stroke="{_GRID}"/>'
        yield f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{percent} %</text>'
    for second in range(0, int(lasts) + 1, 20):
        x = _x(second, lasts)
        yield f'<text x="{x:.1f}" y="{_HEIGHT - _BOTTOM + 16}" text-anchor="middle">{second}</text>'
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    yield f'<text x="{middle}" y="{_HEIGHT - 10}" text-anchor="middle">seconds; the outage is shaded</text>'
    yield (
        f'<text transform="translate(14 {(_TOP + _HEIGHT - _BOTTOM) / 2}) rotate(-90)" text-anchor="middle">'
        f"{what}</text>"
    )


def _x(second: float, lasts: float) -> float:
    return _LEFT + (_WIDTH - _LEFT - _RIGHT) * second / lasts


def _y(share: float) -> float:
    return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * share
