#!/usr/bin/env python3
"""compare_page.py STELE: opens a report of `stele compare-designs` in headless Chromium, and checks its figures, plots and
heat maps, that texts of the user stay texts, and that it requests nothing.

Without Chromium the program prints that and exits with 77 (skipped).
"""
import pathlib
import re
import subprocess
import sys
import tempfile

import browser

HOSTILE = "z</script><img src=x onerror=window.hacked=1>\u202e"

USER = """
  const text = (selector) => Array.from(document.querySelectorAll(selector), (element) => element.textContent);
  seen.ready = document.body.dataset.ready;
  seen.title = document.title;
  seen.run = text("#run")[0];
  seen.answers = text("#answers")[0];
  seen.designs = text("#figures thead th[scope]");
  const rows = Array.from(document.querySelectorAll("#figures tbody tr"), (row) => Array.from(row.children, (cell) => cell.textContent));
  seen.rows = rows.find((row) => row[0] === "rows");
  seen.blocks = rows.find((row) => row[0] === "  requests / operation");
  const bytes = Array.from(document.querySelectorAll("#figures tbody tr")).find((row) => row.firstChild.textContent === "logical bytes");
  seen.best = Array.from(bytes.children, (cell) => cell.className);
  seen.bars = Array.from(bytes.querySelectorAll(".bar"), (bar) => parseFloat(bar.style.width)).map(Math.round);
  seen.plots = text("#plots svg > text:first-child");
  seen.curves = Array.from(document.querySelectorAll("#plots svg"), (plot) => plot.querySelectorAll("path").length);
  const wrong = Array.from(document.querySelectorAll(".plots path, .plots line"), (line) => line.outerHTML).filter((line) => /NaN|Infinity/.test(line));
  seen.wrongLines = wrong.length;
  const plot = document.querySelector("#plots svg");
  const box = plot.getBoundingClientRect();
  plot.dispatchEvent(new MouseEvent("mousemove", {bubbles: true, clientX: box.left + box.width / 2, clientY: box.top + 50}));
  seen.readout = text("#plots .readout")[0];
  plot.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight"}));
  seen.moved = text("#plots .readout")[0] !== seen.readout;
  const rateData = JSON.parse(document.getElementById("compare-data").textContent).rates;
""" + browser.RATES + """
  seen.panels = text("#panels h2");
  const drawn = (canvas) => {
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    return pixels.some((value, at) => at % 4 === 0 && value > 200);
  };
  seen.maps = Array.from(document.querySelectorAll("canvas.map"), drawn);
  seen.images = document.images.length;
  seen.hacked = window.hacked || 0;
  seen.requests = performance.getEntriesByType("resource").length;
"""


def design(key, qualifier, read):
    return f"""stele: design/1
inputs: {{orders: {{file: orders.csv}}}}
tables:
  orders:
    families: {{o: {{gc: "maxversions=1"}}}}
    key: "{key}"
    rows: [{{input: orders, timestamp: "1000", cells: {{"o:{qualifier}": "{{item}}"}}}}]
    queries:
      "<b>of-user": {{weight: 3, read: {read}}}
      one: {{read: {{row: "{key}"}}}}
"""


def wrong_findings(seen):
    expected = {"errors": [], "ready": "true", "title": "Comparison of designs", "designs": ["one", "other"], "rows": ["rows", "40", "40"],
                "blocks": ["  requests / operation", "1.00", "1.00"], "best": ["", "best", ""], "plots": ["<b>of-user, us", "one, us"], "curves": [2, 2],
                "wrongLines": 0, "moved": True, "rates": ["all queries, operations/s"], "rateLegend": ["one", "other"], "rateOperations": [600, 600],
                "rateCorners": [True, True], "narrowed": True, "sameMiddle": True, "panels": ["one: orders", "other: orders"], "maps": [True, True], "images": 0, "hacked": 0,
                "requests": 0}
    wrong = [f"{name}: {seen.get(name)!r}, not {value!r}" for name, value in expected.items() if seen.get(name) != value]
    if "\nreplaying 200 operations, closed loop, 1 thread, rounds 3, uniform distribution, seed 1" not in seen["run"]:
        wrong.append(f"run: {seen['run']!r}")
    if seen["answers"] != "answers not compared: no query declares an answer in all designs":
        wrong.append(f"answers: {seen['answers']!r}")
    if len(seen["bars"]) != 2 or seen["bars"][1] != 100 or not 0 < seen["bars"][0] < 90:
        wrong.append(f"bars: {seen['bars']!r}")
    if "one: " not in seen["readout"] or "other: " not in seen["readout"] or " us" not in seen["readout"]:
        wrong.append(f"readout: {seen['readout']!r}")
    if not re.fullmatch(r"0 s: one: [\d,.]+ operations/s, other: [\d,.]+ operations/s", seen["rateReadout"]):
        wrong.append(f"readout of the rates: {seen['rateReadout']!r}")
    return wrong


def main():
    chromium = browser.find()
    with tempfile.TemporaryDirectory() as folder:
        rows = [f"{HOSTILE if user == 3 else f'u{user}'},{number},hat" for user in range(10) for number in range(4)]
        pathlib.Path(folder, "orders.csv").write_text("\n".join(["user,number,item", *rows, ""]), encoding="utf-8")
        for name, text in (("one", design("{user}#{number}", "item", '{prefix: "{user}#"}')),
                           ("other", design("{number}#{user}", "item-with-a-long-name", "{filter: 'row_regex(\".*#{user}\")'}"))):
            pathlib.Path(folder, name + ".yaml").write_text(text, encoding="utf-8")
        page = pathlib.Path(folder, "page.html")
        subprocess.run([sys.argv[1], "compare-designs", f"{folder}/one.yaml", f"{folder}/other.yaml", "--operations", "200", "-o", str(page)],
                       check=True, stdout=subprocess.DEVNULL)
        wrong = []
        if HOSTILE in page.read_text(encoding="utf-8"):
            wrong.append("the hostile text is a part of the page")
        phone = pathlib.Path(folder, "phone.html")
        phone.write_text(page.read_text(encoding="utf-8"), encoding="utf-8")
        seen = browser.what_a_user_sees(chromium, page, USER)
        seen_on_a_phone = browser.what_is_on_a_phone(chromium, phone)
    browser.finish(wrong + wrong_findings(seen) + browser.wrong_on_a_phone(seen_on_a_phone, plots=3))


if __name__ == "__main__":
    main()
