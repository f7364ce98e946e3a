#!/usr/bin/env python3
"""summarize_results.py BASE TITLE COMMIT COMMAND < FIGURES > bench/results/NAME.json

FIGURES are the lines that `stele_compare --json` or `stele_server_load --json` prints. BASE is the
engine or server to compare with, such as rocksdb. The summary has, for each workload, the median
rates over the rounds and their ratio, the ratio of work per CPU second, and disk and peak memory. COMMAND is the command
without --json. Figures with an error are refused.
"""
import datetime
import json
import statistics
import sys


# The present names of workloads of stele_compare. Output without "names" in the line about the run
# has the old ones.
PRESENT_NAMES = {"scan": "scan_all", "bulk": "bulk_load", "increment": "increment_zipfian"}


def read_figures(lines):
    """Returns (the line about the run, the figures with the present names of workloads)."""
    parsed = [json.loads(line) for line in lines if line.strip()]
    runs = [line for line in parsed if "run" in line]
    figures = [line for line in parsed if "workload" in line]
    if len(runs) != 1 or not figures:
        raise ValueError("expected one line about the run, and at least one figure")
    failed = [figure for figure in figures if figure["error"]]
    if failed:
        raise ValueError(f"{failed[0]['workload']}: {failed[0]['error']}")
    if runs[0]["run"] == "stele_compare" and "names" not in runs[0]:
        for figure in figures:
            figure["workload"] = PRESENT_NAMES.get(figure["workload"], figure["workload"])
    return runs[0], figures


def contender_of(figure):
    return figure.get("engine") or figure["server"]


def medians(figures):
    """Returns {(workload, connections): {contender: medians over the rounds}}, in order."""
    samples = {}
    for figure in figures:
        place = samples.setdefault((figure["workload"], figure.get("connections")), {})
        place.setdefault(contender_of(figure), []).append(figure)

    def median(found, take):
        return statistics.median(take(figure) for figure in found)

    return {place: {name: {"unit": found[0]["unit"],
                           "rate": median(found, lambda figure: figure["value"]),
                           "cpu": median(found, lambda figure: figure["cpu_seconds"] / max(figure["operations"], 1)),
                           "disk": median(found, lambda figure: figure.get("disk_bytes", 0)),
                           "memory": median(found, lambda figure: figure.get("rss_bytes", 0))}
                    for name, found in contenders.items()}
            for place, contenders in samples.items()}


def rate_text(rate, unit):
    return f"{rate / 1e6:.2f}M {unit}" if rate >= 1e6 else f"{rate / 1e3:.1f}k {unit}"


def ratio(value, base):
    return round(value / base, 2) if value and base else None


def mebibytes(value, base):
    return f"{value / 2**20:.0f} / {base / 2**20:.0f}" if value and base else None


def rows_of(figures, base_name):
    rows = []
    for (workload, connections), found in medians(figures).items():
        base = found.pop(base_name, None)
        for name, own in found.items() if base is not None else ():
            place = workload if connections is None else f"{workload}, {connections} connections"
            rows.append([place, name, rate_text(own["rate"], own["unit"]), rate_text(base["rate"], base["unit"]),
                         ratio(own["rate"], base["rate"]), ratio(base["cpu"], own["cpu"]),
                         mebibytes(own["disk"], base["disk"]), mebibytes(own["memory"], base["memory"])])
    return rows


def summarize(lines, base, title, commit, command):
    run, figures = read_figures(lines)
    rounds = 1 + max(figure["round"] for figure in figures) - min(figure["round"] for figure in figures)
    return {
        "title": title, "date": datetime.date.today().isoformat(), "commit": commit,
        "machine": str(run.get("machine", "not stated")), "command": command,
        "note": f"Medians of {rounds} round(s).",
        "columns": ["workload", "of", "rate", f"rate of {base}", "ratio", "ratio of work per CPU second",
                    f"disk MiB / {base}", f"peak MiB / {base}"],
        "rows": rows_of(figures, base),
    }


def to_text(result):
    fields = [f"  {json.dumps(key)}: {json.dumps(result[key])}" for key in result if key != "rows"]
    rows = ",\n".join(f"    {json.dumps(row)}" for row in result["rows"])
    return "{\n" + ",\n".join(fields) + ',\n  "rows": [\n' + rows + "\n  ]\n}\n"


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    try:
        print(to_text(summarize(sys.stdin, *sys.argv[1:])), end="")
    except (ValueError, KeyError) as error:
        sys.exit(f"summarize_results.py: {error}")


if __name__ == "__main__":
    main()
