#!/usr/bin/env python3
"""cbt_script_test.py STELED [EMULATOR]: one script of cbt's commands on steled and, where it is installed, on Google's emulator.

What goes well has to print the same on both. What fails has to fail on steled with the code that the interface promises; the emulator says
something else, or nothing (docs/reference/interop.md). Without the emulator only steled's part is looked at; without cbt nothing, and the exit code is 77.
"""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

from cbt_client import cbt, run_tests
from steled_process import Steled

STELED = sys.argv[1] if len(sys.argv) > 1 else ""
EMULATOR = sys.argv[2] if len(sys.argv) > 2 else "/usr/lib/google-cloud-sdk/platform/bigtable-emulator/cbtemulator"
IMPORTED = ",f,,g\n,a,b,c\nk1,1@1000,2@2000,3@3000\nk2,x@1000,,y@1000\n"
FORMAT = "columns:\n  n:\n    encoding: Bigendian\n    type: int64\n"

# Words by '|'. FOLDER: where the script's files are. Behind '->': the code that steled answers with, where the emulator says something else.
SCRIPT = """
createtable|shop|families=f:maxversions=3,g,sum:never:intsum,min:never:intmin,max:never:intmax|splits=k,m
createtable|shop -> AlreadyExists
ls
ls|shop
createfamily|shop|h
createfamily|shop|h -> AlreadyExists
setgcpolicy|shop|h|maxage=10d|or|maxversions=1
ls|shop
setgcpolicy|shop|h|maxage=5h|and|maxversions=3
ls|shop
setgcpolicy|shop|h|never
ls|shop
setvaluetype|shop|h|stringutf8bytes
deletefamily|shop|h
deletefamily|shop|none -> NotFound
set|shop|r1|f:q=one@1000|f:q=two@2000|f:q=three@3000|g:x=v@1000
set|shop|r2|f:q=v@1000|f:=empty@1000
set|shop|r1|none:q=v@1000 -> NotFound
addtocell|shop|r3|sum:n=5@1000
addtocell|shop|r3|sum:n=7@1000
addtocell|shop|r3|min:n=5@1000
addtocell|shop|r3|min:n=3@1000
addtocell|shop|r3|max:n=5@1000
addtocell|shop|r3|max:n=7@1000
addtocell|shop|r3|f:n=7@1000 -> InvalidArgument
import|shop|FOLDER/import.csv|timestamp=value-encoded
import|shop|FOLDER/import.csv|column-family=none -> NotFound
read|shop
read|shop|start=k2|end=r2
read|shop|prefix=k
read|shop|regex=.*2
read|shop|columns=f:q,g:.*
read|shop|columns=g:x
read|shop|count=2
read|shop|reversed=true|count=2
read|shop|cells-per-column=1|prefix=r1
read|shop|keys-only=true
read|shop|app-profile=any
read|shop|include-stats=full
lookup|shop|r1
lookup|shop|r1|columns=f:q|cells-per-column=1
lookup|shop|r3|format-file=FOLDER/format.yaml
lookup|shop|none
lookup|shop|r1|keys-only=true
count|shop
count|shop|prefix=r
deletecolumn|shop|r1|f|q
deletecolumn|shop|r1|none|q -> NotFound
deleterow|shop|r2
read|shop|prefix=r
waitforreplication|shop
deleteallrows|shop
count|shop
deletetable|shop
deletetable|shop -> NotFound
read|shop -> NotFound
ls
"""


def without_latency(printed):
    """Returns what cbt printed with the time of the call, which differs from run to run, left out."""
    return re.sub(r"(frontend_server_latency: )[0-9.]+ms", r"\1TIME", printed)


class Emulator:
    def __init__(self):
        self.process = subprocess.Popen([EMULATOR, "-host", "127.0.0.1", "-port", "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.address = self.process.stdout.readline().split()[-1]

    def end(self, with_signal):
        self.process.send_signal(with_signal)
        self.process.stdout.close()
        self.process.wait()


class ScriptTest(unittest.TestCase):
    def test_each_command(self):
        with tempfile.TemporaryDirectory(prefix="steled-") as folder:
            pathlib.Path(folder, "import.csv").write_text(IMPORTED, encoding="utf-8")
            pathlib.Path(folder, "format.yaml").write_text(FORMAT, encoding="utf-8")
            server = Steled(STELED, os.path.join(folder, "db"), "--durability=process")
            emulator = Emulator() if os.access(EMULATOR, os.X_OK) else None
            for line in SCRIPT.strip().splitlines():
                command, _, code = line.partition(" -> ")
                words = command.replace("FOLDER", folder).split("|")
                with self.subTest(command=command):
                    self.look(cbt(server.address, words), code, emulator and cbt(emulator.address, words))
            if emulator is None:
                print(f"without the emulator: {EMULATOR} is not there")
            else:
                emulator.end(signal.SIGKILL)
            self.assertEqual(server.end(signal.SIGTERM), 0)

    def look(self, printed, code, printed_by_emulator):
        if code:
            self.assertIn(f"code = {code} ", printed)
            if printed_by_emulator is not None:
                self.assertNotEqual(printed, printed_by_emulator, "the emulator is said to differ")
            return
        self.assertNotIn("code = ", printed)
        if printed_by_emulator is not None:
            self.assertEqual(without_latency(printed), without_latency(printed_by_emulator))


if __name__ == "__main__":
    run_tests()
