#!/usr/bin/env python3
"""live_heat_map_page.py STELE STELED: opens the live heat map of a server in headless Chromium, and checks that it draws
the operations of a client.

Without Chromium the program prints that and exits with 77 (skipped).
"""
import re
import shutil
import subprocess
import sys
import tempfile

from heat_map_page import BROWSERS, SKIPPED


def start(steled, folder):
    """The server, the address of its pages, and its own."""
    process = subprocess.Popen([steled, "--db", f"{folder}/db", "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--heatmap"],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    pages = process.stdout.readline().split()[-1]
    return process, pages, process.stdout.readline().split()[-1]


def document(browser, folder, address):
    done = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1200,900", "--no-proxy-server",
                           f"--user-data-dir={folder}/browser", "--virtual-time-budget=12000", "--dump-dom", address],
                          capture_output=True, text=True, check=False, timeout=240)
    return done.stdout


def wrong_findings(page):
    wrong = [text for text in ('data-ready="true"', "p/i/orders", "</canvas>") if text not in page]
    if re.search(r"\b[1-9]\d* reads,", page) is None:
        wrong.append("reads")
    if re.search(r'<span id="state"[^>]*></span>', page) is None:
        wrong.append("an empty state: the maps were requested without an error")
    return wrong


def main():
    stele, steled = sys.argv[1:3]
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print("skipped: no Chromium is installed")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as folder:
        process, pages, address = start(steled, folder)
        try:
            def run(*words):
                subprocess.run([stele, "--db", f"bigtable://p/i?endpoint={address}", *words], check=True, stdout=subprocess.DEVNULL)

            run("createtable", "orders", "families=f")
            for row in range(20):
                run("set", "orders", f"row{row:02}", "f:q=v")
            first = document(browser, folder, f"http://{pages}/heatmap")
            for row in range(5):
                run("lookup", "orders", f"row{row:02}")
            page = document(browser, folder, f"http://{pages}/heatmap")
        finally:
            process.terminate()
            process.wait()
    wrong = [f"the page has not {text}" for text in wrong_findings(page)]
    if 'data-ready="true"' not in first:
        wrong.append("the first page was not ready")
    print("\n".join(wrong) or "the page is right")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
