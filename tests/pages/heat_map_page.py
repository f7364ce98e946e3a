#!/usr/bin/env python3
"""heat_map_page.py STELE: opens a page of `stele heatmap` in headless Chromium, and checks that it is drawn,
zooms, shows keys as text, and requests nothing.

A copy of the page gets one more script, which acts as a user and writes what it sees into the document.
Without Chromium the program prints that and exits with 77 (skipped).
"""
import base64
import json
import pathlib
import subprocess
import sys
import tempfile

import browser

HOSTILE = "z</script><img src=x onerror=\"window.hacked=1\">\u202e\x1b[31m"

USER = """
  const map = document.querySelector("canvas.map");
  const box = map.getBoundingClientRect();
  const mouse = (name, x, y, target) => (target || map).dispatchEvent(new MouseEvent(name, {bubbles: true, button: 0,
    clientX: box.left + x * box.width, clientY: box.top + y * box.height}));
  const pixel = (x, y) => Array.from(map.getContext("2d").getImageData(x * map.width, y * map.height, 1, 1).data);
  const picture = () => map.toDataURL();
  const tooltip = () => document.querySelector(".tooltip").textContent;
  seen.ready = document.body.dataset.ready;
  seen.hot = pixel(0.505, 0.375);
  seen.cold = pixel(0.905, 0.1);
  const whole = picture();
  mouse("mousemove", 0.5, 0.999);
  seen.tooltip = tooltip();
  mouse("mousedown", 0.5, 0.999);
  mouse("mouseup", 0.5, 0.999, window);
  seen.pinned = document.querySelector(".tooltip").classList.contains("pinned");
  mouse("mousemove", 0.1, 0.1);
  seen.tooltipStays = tooltip() === seen.tooltip;
  map.dispatchEvent(new WheelEvent("wheel", {deltaY: -100, clientX: box.left + 5, clientY: box.top + 5, cancelable: true}));
  seen.wheelZooms = picture() !== whole;
  document.getElementById("back").click();
  map.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter"}));
  const wheel = (members) => map.dispatchEvent(new WheelEvent("wheel", {clientX: box.left + 5, clientY: box.top + 5, cancelable: true, ...members}));
  const before = picture();
  wheel({deltaX: -100, shiftKey: true});
  seen.shiftWheelZooms = picture() !== before;
  wheel({deltaX: 100, shiftKey: true});
  seen.shiftWheelZoomsBack = picture() === before;
  wheel({deltaX: 100});
  seen.horizontalWheelIsIgnored = picture() === before;
  const isTaken = (key, members) => !map.dispatchEvent(new KeyboardEvent("keydown", {key, cancelable: true, ...members}));
  seen.keysOfTheBrowser = [isTaken("+", {ctrlKey: true}), isTaken("ArrowLeft", {altKey: true}), isTaken("0", {metaKey: true})];
  seen.heading = document.querySelector("h2").textContent;
  mouse("mousedown", 0.1, 0.1);
  mouse("mouseup", 0.4, 0.4, window);
  const dragged = picture();
  seen.dragZooms = dragged !== whole;
  map.dispatchEvent(new KeyboardEvent("keydown", {key: "Backspace"}));
  seen.keysGoBack = picture() !== dragged;
  map.dispatchEvent(new KeyboardEvent("keydown", {key: "+"}));
  map.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight"}));
  document.querySelector(".patterns button").click();
  document.getElementById("metric").value = "writes";
  document.getElementById("metric").dispatchEvent(new Event("change"));
  document.getElementById("whole").click();
  seen.label = map.getAttribute("aria-label");
  seen.patterns = document.querySelector(".patterns").textContent;
  seen.images = document.images.length;
  seen.hacked = window.hacked || 0;
  seen.requests = performance.getEntriesByType("resource").length;
"""

# With --compare: the heading of each map says which one it is.
COMPARED = """
  seen.headings = Array.from(document.querySelectorAll("h2"), (heading) => heading.textContent);
"""

# Below the map: its size in words.
SUMMARY = """
  seen.summary = document.querySelector(".summary").textContent;
"""


# The texts of the tree, which is drawn again.
TREE = """
  seen.labels = [];
  const fillText = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
    seen.labels.push(text);
    return fillText.call(this, text, ...rest);
  };
  window.dispatchEvent(new Event("resize"));
  const last = document.querySelector("canvas.map");
  const where = last.getBoundingClientRect();
  last.dispatchEvent(new MouseEvent("mousemove", {bubbles: true, clientX: where.left + 5, clientY: where.bottom - 2}));
  seen.tooltip = document.querySelector(".tooltip").textContent;
"""
# The first band begins at "". All keys begin with one byte that is not UTF-8.
BYTES = [b"\xff\x01", b"\xff\x02", b"\xff\x11", b"\xff" + b"\xf0" * 65000]


def operations_of_bytes():
    for key in BYTES:
        yield {"t": 1700000000000000, "op": "get", "table": "t", "row_base64": base64.b64encode(key).decode()}


def wrong_labels(seen):
    keys = [label for label in seen["labels"] if label.startswith("\\")]
    expected = ["\\xff", "\\x02", "\\x11", "\\xf0" * 64]
    wrong = [] if keys == expected else [f"the labels of the tree are {seen['labels']}, not {expected}"]
    if "\\xf0... (65,001 bytes)" not in seen["tooltip"]:
        wrong.append(f"the tooltip does not cut the long key: {seen['tooltip'][:2000]!r}")
    return wrong


def operations():
    """The row m is hot in the middle; the last row is hostile."""
    rows = ["a", "m", "n", HOSTILE]
    for second in range(100):
        for row in rows:
            for _ in range(200 if row == "m" and 40 <= second < 60 else 1 if second % 2 else 0):
                yield {"t": 1700000000000000 + second * 1000000, "op": "get", "table": "<b>t", "row": row}


def wrong_findings(seen):
    expected = {"errors": [], "ready": "true", "hot": [252, 255, 164, 255], "cold": [0, 0, 4, 255], "pinned": True, "tooltipStays": True,
                "wheelZooms": True, "dragZooms": True, "keysGoBack": True, "shiftWheelZooms": True, "shiftWheelZoomsBack": True,
                "horizontalWheelIsIgnored": True, "keysOfTheBrowser": [False, False, False], "heading": "<b>t", "images": 0, "hacked": 0, "requests": 0}
    wrong = [f"{name}: {seen.get(name)!r}, not {value!r}" for name, value in expected.items() if seen.get(name) != value]
    for name, text in (("tooltip", "</script><img src=x"), ("tooltip", "\\u202e\\u001b"), ("patterns", "hot-row"), ("label", "<b>t"),
                       ("label", "4 bands by 99 steps of 1s from 2023-11-14T22:13:21Z. ")):
        if text not in seen.get(name, ""):
            wrong.append(f"{name}: {seen.get(name)!r} has no {text!r}")
    return wrong


def wrong_headings(seen):
    expected = ["Heat map: <b>t", "Compared heat map: <b>t"]
    return [] if seen["headings"] == expected else [f"the headings are {seen['headings']}, not {expected}"]


def wrong_summary(seen, expected):
    return [] if seen["summary"].startswith(expected) else [f"the summary is {seen['summary']!r}, not {expected!r}"]


def main():
    chromium = browser.find()
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder, "trace.jsonl")
        trace.write_text("".join(json.dumps(line) + "\n" for line in operations()), encoding="utf-8")
        page = pathlib.Path(folder, "page.html")
        subprocess.run([sys.argv[1], "heatmap", str(trace), "-o", str(page)], check=True, stdout=subprocess.DEVNULL)
        seen = browser.what_a_user_sees(chromium, page, USER)
        subprocess.run([sys.argv[1], "heatmap", str(trace), "--compare", str(trace), "-o", str(page)], check=True, stdout=subprocess.DEVNULL)
        compared = browser.what_a_user_sees(chromium, page, COMPARED)
        trace.write_text("".join(json.dumps(line) + "\n" for line in operations_of_bytes()), encoding="utf-8")
        subprocess.run([sys.argv[1], "heatmap", str(trace), "-o", str(page)], check=True, stdout=subprocess.DEVNULL)
        tree = browser.what_a_user_sees(chromium, page, TREE)
        short = []
        trace.write_text(json.dumps(next(operations()) | {"row": "a"}) + "\n", encoding="utf-8")
        for step in ("20ms", "500us"):
            subprocess.run([sys.argv[1], "heatmap", str(trace), "--step", step, "-o", str(page)], check=True, stdout=subprocess.DEVNULL)
            summary = browser.what_a_user_sees(chromium, page, SUMMARY)
            short += wrong_summary(summary, f"1 band by 1 step of {step} from 2023-11-14T22:13:21Z. 1 operation, 1 read, 0 writes. ")
    browser.finish(wrong_findings(seen) + wrong_headings(compared) + wrong_labels(tree) + short)


if __name__ == "__main__":
    main()
