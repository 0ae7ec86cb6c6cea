"""Results as HTML: one table and one picture, no scripts, nothing from outside."""
from __future__ import annotations

import html
from typing import Any, Dict, List

ROWS = 40  # stages in the table at most
WIDTH = 640  # of the bar, in pixels
COLOURS = ("#4e79a7", "#e15759", "#b07aa1", "#f28e2b", "#9c755f", "#edc948", "#76b7b2", "#bab0ac")
_CELL = "style='text-align:right;padding:0 8px'"


def _table(stages: List[Dict[str, Any]], cycles: int, seconds: float) -> str:
    rows = []
    for stage in stages[:ROWS]:
        share = 100 * stage.get("cycles", 0) / cycles if cycles else 0
        rows.append(f"<tr><td>{html.escape(str(stage.get('name', '')))}</td>"
                    f"<td>{html.escape(str(stage.get('kernel') or ''))}</td>"
                    f"<td {_CELL}>{stage.get('cycles', 0):,}</td><td {_CELL}>{share:.1f} %</td></tr>")
    if len(stages) > ROWS:
        rows.append(f"<tr><td colspan='4'>and {len(stages) - ROWS} more</td></tr>")
    return ("<table><thead><tr><th>stage</th><th>kernel</th><th>cycles</th><th>share</th></tr>"
            f"</thead><tbody>{''.join(rows)}</tbody><tfoot><tr><th>all</th>"
            f"<th>{seconds * 1e3:.6g} ms</th><th {_CELL}>{cycles:,}</th><th></th></tr></tfoot>"
            "</table>")


def _bar(causes: Dict[str, int]) -> str:
    total = sum(causes.values())
    if not total:
        return ""
    shown = [(name, n) for name, n in causes.items() if n]
    parts, x = [], 0.0
    for i, (name, n) in enumerate(shown):
        wide, colour, row = WIDTH * n / total, COLOURS[i % len(COLOURS)], 40 + 18 * i
        label = html.escape(f"{name}: {n:,} cycles, {100 * n / total:.1f} %")
        parts.append(f"<rect x='{x:.2f}' y='0' width='{wide:.2f}' height='24' fill='{colour}'>"
                     f"<title>{label}</title></rect>"
                     f"<rect x='0' y='{row - 10}' width='12' height='12' fill='{colour}'/>"
                     f"<text x='18' y='{row}' font-size='12' fill='currentColor'>{label}</text>")
        x += wide
    high = 40 + 18 * len(shown)
    return (f"<svg xmlns='http://www.w3.org/2000/svg' width='{WIDTH}' height='{high}' "
            f"viewBox='0 0 {WIDTH} {high}' role='img'><title>SHAVE cycles by cause</title>"
            f"{''.join(parts)}</svg>")


def result(report: Dict[str, Any], cycles: int, seconds: float) -> str:
    """Cycles of each stage, and a bar of what all SHAVEs' cycles went to."""
    stages = report.get("stages", [])
    causes: Dict[str, int] = {}
    for stage in stages:
        for cause, n in stage.get("shave_cycles_by_cause", {}).items():
            causes[cause] = causes.get(cause, 0) + n
    return f"<div>{_table(stages, cycles, seconds)}{_bar(causes)}</div>"
