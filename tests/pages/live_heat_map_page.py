#!/usr/bin/env python3
"""live_heat_map_page.py STELE STELED: opens the live heat map of a server in headless Chromium, and checks that it draws
the operations of a client.

Without Chromium the program prints that and exits with 77 (skipped).
"""
import re
import subprocess
import sys
import tempfile

import browser


def start(steled, folder):
    """The server, the address of its pages, and its own."""
    process = subprocess.Popen([steled, "--db", f"{folder}/db", "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--heatmap"],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    pages = process.stdout.readline().split()[-1]
    return process, pages, process.stdout.readline().split()[-1]


def live_page(chromium, folder, pages):
    return browser.document(chromium, f"http://{pages}/heatmap", "--no-proxy-server", f"--user-data-dir={folder}/browser", milliseconds=12000)


def wrong_findings(page):
    wrong = [text for text in ('data-ready="true"', "p/i/orders", "</canvas>") if text not in page]
    if re.search(r"\b[1-9]\d* reads,", page) is None:
        wrong.append("reads")
    if re.search(r'<span id="state"[^>]*></span>', page) is None:
        wrong.append("an empty state: the maps were requested without an error")
    return wrong


def main():
    stele, steled = sys.argv[1:3]
    chromium = browser.find()
    # Processes of the browser may still write to their folder.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        process, pages, address = start(steled, folder)
        try:
            def run(*words):
                subprocess.run([stele, "--db", f"bigtable://p/i?endpoint={address}", *words], check=True, stdout=subprocess.DEVNULL)

            run("createtable", "orders", "families=f")
            for row in range(20):
                run("set", "orders", f"row{row:02}", "f:q=v")
            first = live_page(chromium, folder, pages)
            for row in range(5):
                run("lookup", "orders", f"row{row:02}")
            page = live_page(chromium, folder, pages)
        finally:
            process.terminate()
            process.wait()
    wrong = [f"the page has not {text}" for text in wrong_findings(page)]
    if 'data-ready="true"' not in first:
        wrong.append("the first page was not ready")
    browser.finish(wrong)


if __name__ == "__main__":
    main()
