#!/usr/bin/env python3
"""sanitized_test.py STELED STELED_TEST SYNC_TRACE: the tests of the server, against a steled that is built with sanitizers.

STELED_TEST and SYNC_TRACE are from another build: a sanitized server needs no sanitized client, and gRPC's headers take long to compile.
Fails if a test fails or a sanitizer reports anything. Without STELED_TEST nothing is tested: that is said, and the exit code is 77 (skipped).
"""
import os
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77
# Tests of memory: a sanitizer needs several times as much.
EXCLUDED = ["CallTest.SlowReadersHoldLittleMemory", "HostileTest.*", "Process.ALargeWriteIsInMemoryTwice",
            "Program.ThreadLocalVariablesAreSmall"]


def main():
    steled, client, sync_trace = sys.argv[1:4]
    if not os.path.exists(client):
        print(f"steled with sanitizers: skipped, {client} is not built")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        reports = os.path.join(folder, "report")
        environment = dict(os.environ, STELED_COMMAND=steled, SYNC_TRACE_LIBRARY=sync_trace, ASAN_OPTIONS=f"log_path={reports}",
                           UBSAN_OPTIONS=f"print_stacktrace=1:log_path={reports}")
        ended = subprocess.run([client, "--gtest_filter=-" + ":".join(EXCLUDED)], env=environment, check=False)
        found = sorted(pathlib.Path(folder).glob("report*"))
        for report in found:
            print(f"--- {report.name}\n{report.read_text(errors='replace')}")
    print(f"{len(found)} reports of sanitizers")
    return 1 if found else ended.returncode


if __name__ == "__main__":
    sys.exit(main())
