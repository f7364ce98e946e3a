#!/usr/bin/env python3
"""replay_page.py STELE: opens a report of `stele replay` in headless Chromium, and checks its table and plots, and that it
requests nothing.

Without Chromium the program prints that and exits with 77 (skipped).
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import browser

USER = """
  const text = (selector) => Array.from(document.querySelectorAll(selector), (element) => element.textContent);
  seen.ready = document.body.dataset.ready;
  seen.run = text("#run")[0];
  seen.notes = text("#notes")[0];
  seen.columns = text("#figures thead th[scope]").slice(0, 2);
  seen.operations = Array.from(document.querySelectorAll("#figures tbody tr"), (row) => row.children[0].textContent + " " + row.children[1].textContent);
  seen.legend = text("#legend span");
  seen.plots = text("#plots svg > text:first-child");
  seen.curves = Array.from(document.querySelectorAll("#plots svg"), (plot) => plot.querySelectorAll("path").length);
  seen.wrongLines = Array.from(document.querySelectorAll(".plots path, .plots line"), (line) => line.outerHTML).filter((line) => /NaN|Infinity/.test(line)).length;
  const plot = document.querySelector("#plots svg");
  const box = plot.getBoundingClientRect();
  plot.dispatchEvent(new MouseEvent("mousemove", {bubbles: true, clientX: box.left + box.width / 2, clientY: box.top + 50}));
  seen.readout = text("#plots .readout")[0];
  const rateData = JSON.parse(document.getElementById("replay-data").textContent).rates;
""" + browser.RATES + """
  const slow = document.body.appendChild(document.createElement("div"));
  slow.className = "plots";
  window.reportPage.drawPlots(slow, document.createElement("div"), ["slow"], [{title: "get", curves: [[[50, 5000000], [100, 9999999]]]}],
                              window.reportPage.latencyAxes);
  seen.hasSlowLabel = text(".plots text").includes("10,000,000");
  seen.cutLabels = Array.from(slow.querySelectorAll("text"), (label) => label.getBBox().x).filter((x) => x < 0).length;
  seen.images = document.images.length;
  seen.requests = performance.getEntriesByType("resource").length;
"""


def wrong_findings(seen, database):
    expected = {"errors": [], "ready": "true", "columns": ["operations", "ops/s"], "operations": ["get 50", "set 50", "all 100"],
                "legend": ["latency", "calls alone"], "plots": ["get, us", "set, us"], "curves": [2, 2], "wrongLines": 0,
                "rates": ["all operations, operations/s"], "rateLegend": ["reached", "due"], "rateOperations": [100, 100],
                "rateCorners": [True, True], "narrowed": True, "sameMiddle": True, "hasSlowLabel": True, "cutLabels": 0,
                "images": 0, "requests": 0}
    wrong = [f"{name}: {seen.get(name)!r}, not {value!r}" for name, value in expected.items() if seen.get(name) != value]
    for name, text in (("run", f"database  {database}"), ("run", "open loop, 5000 operations/s"), ("notes", "late by more than 1 ms"),
                       ("readout", "latency: "), ("readout", "calls alone: ")):
        if text not in seen[name]:
            wrong.append(f"{name}: {seen[name]!r} has no {text!r}")
    if not re.fullmatch(r"0 s: reached: [\d,.]+ operations/s, due: [\d,.]+ operations/s", seen["rateReadout"]):
        wrong.append(f"readout of the rates: {seen['rateReadout']!r}")
    return wrong


def main():
    chromium = browser.find()
    with tempfile.TemporaryDirectory() as folder:
        database = f"{folder}/<img src=x>.db"
        trace = pathlib.Path(folder, "trace.jsonl")
        trace.write_text("".join(json.dumps({"t": 1700000000000000 + i, "op": "set" if i % 2 else "get", "table": "t", "row": f"row{i}"}) + "\n"
                                 for i in range(100)), encoding="utf-8")
        page = pathlib.Path(folder, "page.html")

        def run(*words):
            subprocess.run([sys.argv[1], "--db", database, *words], check=True, stdout=subprocess.DEVNULL)

        run("createtable", "t", "families=f")
        run("replay", str(trace), "--rate", "5000/s", "-o", str(page))
        phone = pathlib.Path(folder, "phone.html")
        phone.write_text(page.read_text(encoding="utf-8"), encoding="utf-8")
        seen = browser.what_a_user_sees(chromium, page, USER)
        seen_on_a_phone = browser.what_is_on_a_phone(chromium, phone)
    browser.finish(wrong_findings(seen, database) + browser.wrong_on_a_phone(seen_on_a_phone, plots=3))


if __name__ == "__main__":
    main()
