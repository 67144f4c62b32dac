"""The dashboard's charts below a notebook's cell, with all that they need: nothing is asked for."""

from __future__ import annotations

import base64
import json
from html import escape

from headway import _core
from headway._plots import panels

_CHARTS_MAX, _POINTS = 8, 400
#: Of a row of charts (two side by side where there is room), and of what stands below them.
_ROW_PX, _BELOW_PX, _ROWS_MAX = 300, 50, 3


def html(location: str) -> str:
    """The charts of the run or the experiment in a folder; empty when there is nothing to draw.

    They are a page in a frame. Where a notebook shows no frames, as one that is not trusted does,
    the same curves are in a picture.
    """
    try:
        text = _core.inline_charts(location, _CHARTS_MAX, _POINTS)
    except OSError:
        return ""  # The table beside them is shown nevertheless.
    charts = json.loads(text)["charts"]
    if not charts:
        return ""
    names = escape(", ".join(chart["title"] for chart in charts), quote=True)
    height = _ROW_PX * min((len(charts) + 1) // 2, _ROWS_MAX) + _BELOW_PX
    page = escape(_core.inline_page(text), quote=True)
    picture = base64.b64encode(panels.svg(panels.of_charts(charts)).encode()).decode()
    return (
        f'<iframe srcdoc="{page}" sandbox="allow-scripts" title="Charts of {names}" width="100%" height="{height}" '
        f'style="border:0"></iframe><details><summary>As a picture</summary><img alt="Charts of {names}" '
        f'src="data:image/svg+xml;base64,{picture}"></details>'
    )
