#!/usr/bin/env python3
"""copy_test.py STELE STELED SYNC_TRACE STOP_AT_RENAME: `stele copy` between directories, running servers and Google's emulator, with kills of both sides in between.

Where the command was built without stele::remote nothing is tested, that is said, and the exit code is 77 (skipped). The emulator's tests are
skipped where it is not installed.
"""
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

from cbt_client import SKIPPED, cbt

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "pages"))
from free_port import free_port  # noqa: E402

STELE, STELED, SYNC_TRACE, STOP_AT_RENAME = (sys.argv[1:5] + [""] * 4)[:4]
EMULATOR = "/usr/lib/google-cloud-sdk/platform/bigtable-emulator/cbtemulator"
FAMILIES = "families=plain:maxversions=2,all,sum:never:intsum,min:never:intmin,max:never:intmax"


def cell(family, qualifier, value, micros=1000):
    return {"family": family, "qualifier": qualifier, "timestamp": micros, "value": value}


class Server:
    """A steled, or the emulator, on a port that it keeps when it is started again."""

    def __init__(self, *command):
        self.port = free_port()
        self.command = [part.format(port=self.port) for part in command]
        self.process = None
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not self.is_listening():
            assert self.process.poll() is None, f"{self.command} ended"
            time.sleep(0.02)

    def is_listening(self):
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", self.port)) == 0

    def kill(self):
        self.process.kill()
        self.process.wait()

    def location(self, instance="i"):
        return f"bigtable://p/{instance}?endpoint=127.0.0.1:{self.port}&retry_seconds=600"


class CopyTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="stele-copy-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.source = str(self.folder / "source")

    def server(self, *command):
        server = Server(*command)
        self.addCleanup(server.kill)
        return server

    def steled(self, name="served"):
        return self.server(STELED, "--db", str(self.folder / name), "--listen", "127.0.0.1:{port}", "--durability=process")

    def stele(self, *args, status=0):
        """What it printed on standard output, and on standard error."""
        done = subprocess.run([STELE, *args], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout, done.stderr

    def export(self, location, table):
        return self.stele("--db", location, "export", table)[0]

    def load(self, table, rows, families=FAMILIES, splits="splits=m,row1,row2"):
        self.stele("--db", self.source, "createtable", table, families, splits)
        path = self.folder / "rows.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        self.stele("--db", self.source, "import", table, str(path), "aggregates=add")

    def load_all_kinds(self, table):
        """Binary keys, empty values, many versions, counters, a row in pieces, a value above a message."""
        rows = [
            {"row_base64": "AP8K", "cells": [cell("all", "", ""), {"family": "all", "qualifier_base64": "/w==", "timestamp": 0, "value": "x"}]},
            {"row": "counts", "cells": [cell(family, "q", value, micros) for family in ("sum", "min", "max")
                                        for micros in (0, 5000) for value in ("7", "-9223372036854775808")]},
            {"row": "versions", "cells": [cell("plain", "q", str(i), i * 1000) for i in range(5)]},
            {"row": "value", "cells": [cell("all", "q", "v" * (5 << 20))]},
        ]
        for first in range(0, 1500, 500):
            rows.append({"row": "wide", "cells": [cell("all", f"q{first + i}", "w" * (12 << 10)) for i in range(500)] +
                                                 [cell("sum", f"q{first + i}", str(i)) for i in range(500)]})
        self.load(table, rows)

    def load_many(self, table, count=4000):
        self.load(table, [{"row": f"row{i}", "cells": [cell("plain", "q", f"value {i}"), cell("sum", "q", str(i))]} for i in range(count)])

    def begin_copy(self, *args, writes="8", stderr=subprocess.PIPE, batch_size=20):
        """A copy that stops itself when it has written its marks so many times (tests/preload/stop_at_rename.cc)."""
        copy = subprocess.Popen([STELE, "copy", *args, f"batch-size={batch_size}"], stdout=subprocess.DEVNULL, stderr=stderr, text=True,
                                env={**os.environ, "LD_PRELOAD": STOP_AT_RENAME, "STELE_STOP_AT_RENAME": f".new {writes}"})
        self.addCleanup(copy.kill)
        return copy

    def await_stop(self, copy):
        ended, how = os.waitpid(copy.pid, os.WUNTRACED)
        self.assertTrue(ended == copy.pid and os.WIFSTOPPED(how), "it was to be stopped: give it more rows")

    def copy_and_kill(self, marks, *args):
        copy = self.begin_copy(*args)
        self.await_stop(copy)
        copy.kill()
        copy.communicate()
        self.assertTrue(marks.exists())

    def there_and_back(self, server):
        location = server.location()
        back = str(self.folder / "back")
        self.load_all_kinds("t")
        _, said = self.stele("copy", self.source, location, "--verify")
        self.assertIn("Verified t: 5 rows are the same.", said)
        self.stele("copy", self.source, location, "--verify")  # copied twice is the same as once
        _, said = self.stele("copy", location, back, "--verify")
        self.assertIn("The source has no snapshots", said)
        self.assertEqual(self.export(back, "t"), self.export(self.source, "t"))
        self.assertEqual(self.stele("--db", back, "ls", "t"), self.stele("--db", self.source, "ls", "t"))
        # A table that is there with other families.
        self.stele("--db", back, "createtable", "other", "families=plain,sum")
        _, said = self.stele("copy", location, back, "t", "--to", "other", status=1)
        self.assertIn("no row was written", said)

    def goes_on(self, server):
        location = server.location()
        self.load_many("t")
        marks = self.folder / "marks"
        for _ in range(2):
            self.copy_and_kill(marks, self.source, location, "--resume", str(marks))
        _, said = self.stele("copy", self.source, location, "--resume", str(marks), "--verify")
        self.assertIn("t: resuming after ", said)
        self.assertIn("Verified t: 4000 rows are the same.", said)
        self.assertFalse(marks.exists())

    def test_steled_there_and_back(self):
        self.there_and_back(self.steled())

    def test_a_read_says_what_is_unknown(self):
        self.load("t", [{"row": row, "cells": [cell("plain", "q", "v")]} for row in ("a", "b")])
        location = self.steled().location()
        self.stele("copy", self.source, location)
        for place, seen in ((self.source, 2), (location, "unknown")):
            printed, _ = self.stele("--db", place, "read", "t", "include-stats=full")
            self.assertIn(f"rows_seen_count: {seen}\nrows_returned_count: 2\ncells_seen_count: {seen}\ncells_returned_count: 2\n", printed)

    def test_steled_goes_on_after_kills(self):
        self.goes_on(self.steled())

    def test_two_copies_do_not_share_their_marks(self):
        server = self.steled()
        marks = self.folder / "marks"
        self.load_many("t")
        first = self.begin_copy(self.source, server.location(), "--resume", str(marks))
        self.await_stop(first)
        before = marks.read_bytes()
        for instance in ("i", "other"):
            _, said = self.stele("copy", self.source, server.location(instance), "--resume", str(marks), status=1)
            self.assertIn("is in use by a running copy", said)
        self.assertEqual(marks.read_bytes(), before)
        first.send_signal(signal.SIGCONT)
        _, said = first.communicate()
        self.assertEqual(first.returncode, 0, said)
        self.assertEqual(list(self.folder.glob("marks*")), [])
        self.stele("copy", self.source, server.location(), "--resume", str(marks))

    def test_marks_of_a_copy_that_is_done_do_not_come_back(self):
        """Their removal is synced: preload/sync_trace.cc."""
        self.load_all_kinds("t")
        marks, trace = self.folder / "marks", self.folder / "trace"
        subprocess.run([STELE, "copy", self.source, self.steled().location(), "--resume", str(marks)], check=True,
                       stderr=subprocess.DEVNULL, env={**os.environ, "LD_PRELOAD": SYNC_TRACE, "STELE_SYNC_TRACE": str(trace)})
        lines = trace.read_text(encoding="utf-8").splitlines()
        self.assertEqual(lines[lines.index(f"remove {marks}"):], [f"remove {marks}", f"sync {self.folder.resolve()}"])

    def test_the_bar_grows(self):
        self.load("t", [{"row": f"row{i:05}", "cells": [cell("plain", "q", f"value {i}")]} for i in range(6000)], FAMILIES,
                  "splits=" + ",".join(f"row{i:05}" for i in range(300, 6000, 300)))
        terminal, stderr = pty.openpty()
        copy = self.begin_copy(self.source, self.steled().location(), "--resume", str(self.folder / "marks"), "workers=1",
                               writes="150,500,850", stderr=stderr, batch_size=5)
        os.close(stderr)
        self.addCleanup(os.close, terminal)
        # The bar is due a second after the start, and then every tenth of a second. These times pass while the copy is stopped.
        for seconds in (1.2, 0.2, 0.2):
            self.await_stop(copy)
            time.sleep(seconds)
            copy.send_signal(signal.SIGCONT)
        seen, text = [], b""
        while len(set(seen)) < 3:
            try:
                text += os.read(terminal, 4096)
            except OSError:  # how a terminal tells its end
                self.fail(f"the copy ended; it said {text!r}")
            seen = re.findall(rb"\rcopying t \[(#*)\.*\] +(\d+)% \d+ bytes stored \(\d+/s\)\x1b\[K", text)
        copy.kill()
        copy.wait()
        bars = [(len(bar), int(percent)) for bar, percent in seen]
        self.assertEqual(bars, sorted(bars))
        for length, percent in bars:
            self.assertIn(length, (percent * 30 // 100 - 1, percent * 30 // 100, percent * 30 // 100 + 1))

    def test_a_server_that_goes_away_and_comes_back(self):
        server = self.steled()
        marks = self.folder / "marks"
        self.load_many("t")
        self.copy_and_kill(marks, self.source, server.location(), "--resume", str(marks))
        server.kill()
        gone = server.location().replace("retry_seconds=600", "retry_seconds=0")
        self.stele("copy", self.source, gone, status=1)
        # It comes back while a copy waits for it.
        copy = subprocess.Popen([STELE, "copy", self.source, server.location(), "--resume", str(marks), "--verify"], stderr=subprocess.PIPE,
                                text=True)
        server.start()
        _, said = copy.communicate()
        self.assertEqual(copy.returncode, 0, said)
        self.assertIn("Verified t: 4000 rows are the same.", said)

    def test_a_server_that_forgot_everything(self):
        server = self.steled()
        marks = self.folder / "marks"
        self.load_many("t")
        self.copy_and_kill(marks, self.source, server.location(), "--resume", str(marks))
        self.stele("--db", server.location(), "deletetable", "t")
        _, said = self.stele("copy", self.source, server.location(), "--resume", str(marks), "--verify")
        self.assertIn("starting again", said)

    def test_a_design_on_a_server_says_what_is_not_stored(self):
        if subprocess.run([STELE, "lint", "--explain", "all"], capture_output=True, check=False).returncode != 0:
            self.skipTest("the command was built without stele::lab")
        design = self.folder / "d.json"
        tables = {name: {"families": {"f": {}}, **key, "rows": [{"input": "in", "cells": {"f:v": "{v}"}}]} for name, key in (
            ("plain", {"key": "{k}"}), ("typed", {"row_key_schema": {"fields": [{"name": "k", "type": "string", "from": "{k}"}]}}))}
        design.write_text(json.dumps({"stele": "design/1", "inputs": {"in": {"file": "in.csv"}}, "tables": tables}))
        (self.folder / "in.csv").write_text("k,v\na,1\n")
        location = self.steled().location()
        said = "a server stores no properties of tables: lab.design{} not stored, so later commands need the design\n"
        self.assertEqual(self.stele("--db", location, "design", "apply", str(design), "--table", "plain")[1], said.format(" is"))
        self.assertEqual(self.stele("--db", location, "load", str(design))[1], said.format(" and row_key_schema are"))
        self.assertEqual(self.stele("--db", location, "load", str(design), "--check")[1], "")
        self.assertEqual(self.stele("--db", str(self.folder / "local"), "load", str(design))[1], "")

    def test_between_two_servers(self):
        first, second = self.steled("first"), self.steled("second")
        marks = self.folder / "marks"
        self.load_many("t")
        self.stele("copy", self.source, first.location())
        self.copy_and_kill(marks, first.location(), second.location("other"), "--resume", str(marks))
        _, said = self.stele("copy", first.location(), second.location("other"), "--resume", str(marks), "--verify")
        self.assertIn("resuming after", said)
        self.assertEqual(self.export(second.location("other"), "t"), self.export(self.source, "t"))

    def test_tables_of_a_server_leave_their_instance_behind(self):
        server = self.steled()
        self.load("p/i/t", [{"row": "r", "cells": [cell("all", "q", "v")]}])
        _, said = self.stele("copy", self.source, server.location())
        self.assertIn("Copied p/i/t to t: 1 rows", said)

    def test_a_table_that_a_server_deleted_does_not_come_back_on_another(self):
        first, second = self.steled("first"), self.steled("second")
        for table in ("t", "gone"):
            self.stele("--db", first.location(), "createtable", table, "families=f")
        self.stele("--db", first.location(), "deletetable", "gone")
        first.kill()
        self.stele("copy", str(self.folder / "first"), second.location())
        listed, _ = self.stele("--db", second.location(), "ls")
        self.assertEqual(listed, "t\n")

    def test_a_directory_with_only_deleted_tables_says_so(self):
        first, second = self.steled("first"), self.steled("second")
        self.stele("--db", first.location(), "createtable", "gone", "families=f")
        self.stele("--db", first.location(), "deletetable", "gone")
        first.kill()
        source = str(self.folder / "first")
        _, said = self.stele("copy", source, second.location(), status=1)
        self.assertIn("has only tables that a server hides; name a table to copy it", said)
        self.stele("copy", source, second.location(), "p/i/gone")
        listed, _ = self.stele("--db", second.location(), "ls")
        self.assertEqual(listed, "gone\n")

    @unittest.skipUnless(shutil.which("cbt"), "cbt is not installed")
    def test_a_family_described_as_strings_stays_one(self):
        first, second = self.steled("first"), self.steled("second")
        address = f"127.0.0.1:{first.port}"
        self.assertEqual(cbt(address, ["createtable", "t", "families=plain,text:never:stringutf8bytes"]), "")
        self.assertEqual(cbt(address, ["set", "t", "r", "text:q=v@1000"]), "")
        local = str(self.folder / "local")
        self.stele("copy", first.location(), local, "--verify")
        _, said = self.stele("copy", local, second.location(), "--verify")
        self.assertNotIn("are not copied", said)
        told = cbt(address, ["ls", "t"])
        self.assertIn("stringType", told)
        self.assertEqual(cbt(f"127.0.0.1:{second.port}", ["ls", "t"]), told)
        # A table that is there without the description takes the same cells.
        self.stele("--db", second.location(), "createtable", "other", "families=plain,text")
        _, said = self.stele("copy", local, second.location(), "t", "--to", "other", "--verify")
        self.assertIn("Verified t: 1 rows are the same.", said)

    @unittest.skipUnless(os.path.exists(EMULATOR), "Google's emulator is not installed")
    def test_emulator_there_and_back(self):
        self.there_and_back(self.server(EMULATOR, "-host", "127.0.0.1", "-port", "{port}"))

    @unittest.skipUnless(os.path.exists(EMULATOR), "Google's emulator is not installed")
    def test_emulator_goes_on_after_kills(self):
        self.goes_on(self.server(EMULATOR, "-host", "127.0.0.1", "-port", "{port}"))


def main():
    tried = subprocess.run([STELE, "--db", "bigtable://p/i?endpoint=127.0.0.1:1&retry_seconds=0", "ls"], capture_output=True, text=True,
                           check=False)
    if "stele::remote" in tried.stderr:
        print("skipped: the command was built without stele::remote")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1])


if __name__ == "__main__":
    main()
