"""What Grafana's panels are made of, as much of it as the dashboard needs: its form is `@grafana/schema` 13."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
SOURCE: Json = {"type": "prometheus", "uid": "${datasource}"}
_PLUGINS = "13.2.2"
_GREEN, _ORANGE, _RED = "green", "orange", "red"


def query(expr: str, legend: str = "", *, instant: bool = False) -> Json:
    """A PromQL query; `legend` names its series, instant ones are of the end of the time range alone."""
    kind = {"instant": True, "range": False, "format": "table"} if instant else {"instant": False, "range": True}
    return {"datasource": SOURCE, "editorMode": "code", "expr": expr, "legendFormat": legend or "__auto", **kind}


def limits(orange: float | None = None, red: float | None = None, *, base: str = _GREEN) -> Json:
    """From which values on a number is orange or red; `base` is its colour below both."""
    steps: list[Json] = [{"color": base, "value": None}]
    steps += [{"color": colour, "value": at} for colour, at in ((_ORANGE, orange), (_RED, red)) if at is not None]
    return {"mode": "absolute", "steps": steps}


AT_LEAST_ONE: Json = {"mode": "absolute", "steps": [{"color": _RED, "value": None}, {"color": _GREEN, "value": 1}]}


def words(**named: tuple[str, str]) -> list[Json]:
    """Numbers as words: each argument is `_NUMBER=(word, colour)`."""
    options = {
        number.removeprefix("_"): {"text": word, "color": colour, "index": index}
        for index, (number, (word, colour)) in enumerate(named.items())
    }
    return [{"type": "value", "options": options}]


def stat(title: str, about: str, expr: str, *, unit: str = "none", thresholds: Json, mappings: Any = ()) -> Json:
    """One number."""
    defaults = {"unit": unit, "color": {"mode": "thresholds"}, "thresholds": thresholds, "mappings": list(mappings)}
    options = {
        "colorMode": "background_solid",
        "graphMode": "none",
        "justifyMode": "auto",
        "orientation": "auto",
        "percentChangeColorMode": "standard",
        "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
        "showPercentChange": False,
        "textMode": "auto",
        "wideLayout": True,
    }
    return _panel("stat", title, about, [query(expr)], defaults, options, 4, 4)


def series(
    title: str,
    about: str,
    *queries: Json,
    unit: str = "none",
    thresholds: Json | None = None,
    stacked: bool = False,
    width: int = 12,
    most: float | None = None,
) -> Json:
    """Lines over time, or areas upon each other."""
    custom: Json = {
        "drawStyle": "line",
        "fillOpacity": 30 if stacked else 8,
        "lineWidth": 1,
        "showPoints": "never",
        "spanNulls": False,
        "stacking": {"group": "A", "mode": "normal" if stacked else "none"},
        "thresholdsStyle": {"mode": "dashed" if thresholds else "off"},
    }
    defaults: Json = {"unit": unit, "min": 0, "color": {"mode": "palette-classic-by-name"}, "custom": custom}
    defaults |= {"thresholds": thresholds or limits()} | ({} if most is None else {"max": most})
    options = {
        "legend": {"calcs": ["lastNotNull", "max"], "displayMode": "table", "placement": "right", "showLegend": True},
        "tooltip": {"mode": "multi", "sort": "desc", "hideZeros": True},
    }
    if width < 12:
        options["legend"] |= {"calcs": [], "displayMode": "list", "placement": "bottom"}
    return _panel("timeseries", title, about, list(queries), defaults, options, width, 8)


def bars(title: str, about: str, one: Json, *, unit: str, thresholds: Json, width: int = 12) -> Json:
    """One bar for each series, of now."""
    defaults = {"unit": unit, "min": 0, "max": 1, "color": {"mode": "thresholds"}, "thresholds": thresholds}
    options = {
        "displayMode": "basic",
        "legend": {"calcs": [], "displayMode": "list", "placement": "bottom", "showLegend": False},
        "maxVizHeight": 40,
        "minVizHeight": 16,
        "minVizWidth": 8,
        "namePlacement": "left",
        "orientation": "horizontal",
        "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
        "showUnfilled": True,
        "sizing": "manual",
        "valueMode": "color",
    }
    return _panel("bargauge", title, about, [one], defaults, options, width, 8)


def timeline(title: str, about: str, one: Json, mappings: list[Json], thresholds: Json) -> Json:
    """States over time, a row for each series."""
    defaults = {
        "color": {"mode": "thresholds"},
        "custom": {"fillOpacity": 80, "lineWidth": 0},
        "mappings": mappings,
        "noValue": "no circuit was open",
        "thresholds": thresholds,
    }
    options = {
        "alignValue": "left",
        "legend": {"calcs": [], "displayMode": "list", "placement": "bottom", "showLegend": True},
        "mergeValues": True,
        "rowHeight": 0.8,
        "showValue": "never",
        "tooltip": {"mode": "single", "sort": "none"},
    }
    return _panel("state-timeline", title, about, [one], defaults, options, 24, 9)


def table(title: str, about: str, columns: dict[str, tuple[str, str]], labels: list[str]) -> Json:
    """One line for each set of labels: `columns` are (query, unit) by their heads."""
    queries = [query(expr, instant=True) for expr, _ in columns.values()]
    names = {f"Value #{chr(ord('A') + at)}": head for at, head in enumerate(columns)}
    overrides = [
        {"matcher": {"id": "byName", "options": head}, "properties": [{"id": "unit", "value": unit}]}
        for head, (_, unit) in columns.items()
    ]
    defaults = {"custom": {"align": "auto", "cellOptions": {"type": "auto"}, "inspect": False}, "thresholds": limits()}
    sort = [{"displayName": next(iter(columns)), "desc": True}]
    panel = _panel("table", title, about, queries, defaults, {"cellHeight": "sm", "sortBy": sort}, 24, 9)
    panel["fieldConfig"]["overrides"] = overrides
    order = {name: at for at, name in enumerate((*labels, *names))}
    arranged = {"excludeByName": {"Time": True}, "indexByName": order, "renameByName": names}
    panel["transformations"] = [{"id": "merge", "options": {}}, {"id": "organize", "options": arranged}]
    return panel


def _panel(
    kind: str, title: str, about: str, queries: list[Json], defaults: Json, options: Json, width: int, height: int
) -> Json:
    """A panel without its place; `laid` gives it one by these measures of Grafana's grid."""
    return {
        "type": kind,
        "title": title,
        "description": about,
        "datasource": SOURCE,
        "targets": [one | {"refId": chr(ord("A") + at)} for at, one in enumerate(queries)],
        "fieldConfig": {"defaults": defaults, "overrides": []},
        "options": options,
        "pluginVersion": _PLUGINS,
        "gridPos": {"w": width, "h": height},
    }


def laid(rows: dict[str, list[Json]]) -> list[Json]:
    """The panels of each row from left to right, down Grafana's 24 columns, each row under its title."""
    placed: list[Json] = []
    top = 0
    for title, panels in rows.items():
        grid = {"x": 0, "y": top, "w": 24, "h": 1}
        placed.append({"type": "row", "title": title, "collapsed": False, "panels": [], "gridPos": grid})
        top, left, height = top + 1, 0, 0
        for panel in panels:
            width = panel["gridPos"]["w"]
            if left + width > 24:
                top, left, height = top + height, 0, 0
            placed.append(panel | {"gridPos": {"x": left, "y": top, **panel["gridPos"]}})
            left, height = left + width, max(height, panel["gridPos"]["h"])
        top += height
    return [panel | {"id": number} for number, panel in enumerate(placed, 1)]
