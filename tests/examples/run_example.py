#!/usr/bin/env python3
"""Runs an example and compares its output with the page that shows it.

usage: run_example.py PAGE NAME PROGRAM [STELED]

With STELED, starts that server on a free port and passes its address to the program.
"""
import difflib
import pathlib
import re
import subprocess
import sys
import tempfile


def expected_output(page, name):
    """Returns the text block below the heading of this name."""
    found = re.search(rf"^### {re.escape(name)}\n\n```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    if found is None:
        sys.exit(f"the page has no output of {name}")
    return found.group(1)


def start_server(steled, directory):
    """Starts steled and returns the process and its address."""
    server = subprocess.Popen([steled, "--db", f"{directory}/db", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
    for line in server.stdout:
        found = re.search(r"127\.0\.0\.1:\d+", line)
        if found is not None:
            return server, found.group(0)
    sys.exit("steled printed no address")


def run(program, arguments, directory):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=300, cwd=directory, check=False)
    if done.returncode != 0:
        sys.exit(f"{program} failed with {done.returncode}: {done.stderr}")
    return done.stdout


def main():
    page, name, program, *steled = sys.argv[1:]
    expected = expected_output(pathlib.Path(page).read_text(encoding="utf-8"), name)
    with tempfile.TemporaryDirectory() as directory:
        if steled:
            server, address = start_server(steled[0], directory)
            try:
                output = run(program, [address], directory)
            finally:
                server.terminate()
                server.wait(300)
        else:
            output = run(program, [], directory)
    if output != expected:
        sys.exit("".join(difflib.unified_diff(expected.splitlines(True), output.splitlines(True), "page", "output")))


if __name__ == "__main__":
    main()
