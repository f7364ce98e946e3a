#!/usr/bin/env python3
"""plot_growth.py TITLE COMMIT COMMAND PICTURE < LINES > bench/results/growth.json

LINES are those that stele_growth prints. Writes the picture as SVG: a panel per curve, with the CPU
time of each operation on logarithmic axes. Prints the same figures as a result, which
check_performance.py shows as a table. COMMAND is the command that printed the lines.
"""
import datetime
import json
import math
import pathlib
import sys
from xml.sax.saxutils import escape

import summarize_results

OPERATIONS = {"cell": "#1f77b4", "row": "#2ca02c", "scan": "#d62728", "family_scan": "#9467bd", "write": "#ff7f0e"}
COLUMNS = 3
WIDTH, HEIGHT = 320, 240  # of a panel
LEFT, RIGHT, TOP, BOTTOM = 52, 14, 30, 40  # margins in a panel
LEGEND = 34


def read_lines(lines):
    """Returns (the line about the run, {curve: [line]})."""
    parsed = [json.loads(line) for line in lines if line.strip()]
    runs = [line for line in parsed if "run" in line]
    curves = {}
    for line in parsed:
        if "curve" in line:
            curves.setdefault(line["curve"], []).append(line)
    if len(runs) != 1 or not curves:
        raise ValueError("expected one line about the run, and at least one figure")
    unknown = {line["operation"] for line in parsed if "curve" in line} - set(OPERATIONS)
    if unknown:
        raise ValueError(f"unknown operation {sorted(unknown)[0]}")
    return runs[0], curves


def time_text(micros):
    """Returns three digits: 0.123, 1.23, 12.3, 123, 1,230."""
    digits = max(0, 2 - math.floor(math.log10(micros))) if micros > 0 else 0
    return f"{micros:,.{digits}f}"


def rows_of(curves):
    """Returns one row per point: curve, value, and the CPU time of each operation."""
    rows = []
    for lines in curves.values():
        by_value = {}
        for line in lines:
            by_value.setdefault(line["value"], {})[line["operation"]] = line["cpu_us"]
        rows += [[lines[0]["varies"], f"{value:,}",
                  *(time_text(found[name]) if name in found else None for name in OPERATIONS)]
                 for value, found in by_value.items()]
    return rows


def result_of(run, curves, title, commit, command):
    return {"title": title, "date": datetime.date.today().isoformat(), "commit": commit,
            "machine": run["machine"], "command": command, "note": "CPU time of the process for one operation, in us.",
            "columns": ["what varies", "value", *OPERATIONS], "rows": rows_of(curves)}


class Axis:
    """Maps values to positions on a logarithmic axis, from `start` to `end` in the picture. The axis
    has at least `range_min` powers of ten."""

    def __init__(self, values, start, end, range_min):
        low, high = math.log10(min(values)), math.log10(max(values))
        missing = max(0, range_min - (high - low)) / 2
        self.low, self.high, self.start, self.end = low - missing, high + missing, start, end

    def place(self, value):
        return self.start + (math.log10(value) - self.low) / (self.high - self.low) * (self.end - self.start)

    def round_values(self):
        """Returns the powers of ten on the axis; on a short axis also twice and five times them."""
        factors = (1, 2, 5) if self.high - self.low < 1.6 else (1,)
        values = [factor * 10.0 ** power for factor in factors
                  for power in range(math.floor(self.low), math.ceil(self.high) + 1)]
        return sorted(value for value in values if self.low - 1e-9 <= math.log10(value) <= self.high + 1e-9)


def power_text(value):
    if value < 1000:
        return f"{value:g}"
    return f"{value / 1000:g}k" if value < 1e6 else f"{value / 1e6:g}M"


def text(x, y, words, anchor="middle", size=11):
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}">{escape(words)}</text>'


def line(x1, y1, x2, y2, color):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}"/>'


def panel(lines, left, top):
    """Returns the shapes of one curve."""
    values = sorted({found["value"] for found in lines})
    x_axis = Axis(values, left + LEFT, left + WIDTH - RIGHT, 0.1)
    y_axis = Axis([max(found["cpu_us"], 1e-3) for found in lines], top + HEIGHT - BOTTOM, top + TOP, 1)
    shapes = [text(left + WIDTH / 2, top + 18, lines[0]["varies"], size=13)]
    for value in values:
        x = x_axis.place(value)
        shapes += [line(x, top + TOP, x, top + HEIGHT - BOTTOM, "#ddd"),
                   text(x, top + HEIGHT - BOTTOM + 16, power_text(value))]
    for value in y_axis.round_values():
        y = y_axis.place(value)
        shapes += [line(left + LEFT, y, left + WIDTH - RIGHT, y, "#ddd"),
                   text(left + LEFT - 6, y + 4, power_text(value), "end")]
    for name, color in OPERATIONS.items():
        points = [(x_axis.place(found["value"]), y_axis.place(max(found["cpu_us"], 1e-3)))
                  for found in lines if found["operation"] == name]
        if not points:
            continue
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        shapes.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        shapes += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>' for x, y in points]
    return shapes


def picture_of(curves):
    """Returns the picture as SVG."""
    width = COLUMNS * WIDTH
    height = LEGEND + math.ceil(len(curves) / COLUMNS) * HEIGHT
    shapes = [text(16, 22, "CPU time of one operation (us):", "start", 13)]
    for index, (name, color) in enumerate(OPERATIONS.items()):
        x = 240 + index * 110
        shapes += [f'<circle cx="{x}" cy="18" r="5" fill="{color}"/>', text(x + 10, 22, name, "start", 13)]
    for index, lines in enumerate(curves.values()):
        shapes += panel(lines, index % COLUMNS * WIDTH, LEGEND + index // COLUMNS * HEIGHT)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family="sans-serif">\n'
            f'<rect width="{width}" height="{height}" fill="white"/>\n' + "\n".join(shapes) + "\n</svg>\n")


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    title, commit, command, picture = sys.argv[1:]
    try:
        run, curves = read_lines(sys.stdin)
        result = summarize_results.to_text(result_of(run, curves, title, commit, command))
        pathlib.Path(picture).write_text(picture_of(curves), encoding="utf-8")
        print(result, end="")
    except (ValueError, KeyError, OSError) as error:
        sys.exit(f"plot_growth.py: {error}")


if __name__ == "__main__":
    main()
