#!/usr/bin/env python3
"""cbt_test.py STELED: the real cbt against the built server: its verbs, a kill -9 between writes, and the end in order.

Without cbt (google-cloud-cli-cbt) nothing is tested: that is said, and the exit code is 77 (skipped).
"""
import os
import signal
import subprocess
import sys
import tempfile
import unittest

from cbt_client import run_tests
from steled_process import Steled

STELED = sys.argv[1] if len(sys.argv) > 1 else ""
LINE = "----------------------------------------\n"


def cell(column, millis, value):
    return f"  {column:<40} @ 1970/01/01-00:00:00.{millis:03}000\n    \"{value}\"\n"


def row(row_key, *cells):
    return LINE + row_key + "\n" + "".join(cells) + "\n"


class Server(Steled):
    """A steled, and cbt for it."""

    def __init__(self, database, *flags):
        super().__init__(STELED, database, *flags)

    def cbt(self, *args):
        """What it printed on standard output, and its errors behind that."""
        environment = {"BIGTABLE_EMULATOR_HOST": self.address, "TZ": "UTC", "HOME": "/nonexistent", "PATH": os.environ["PATH"]}
        done = subprocess.run(["cbt", "-project", "p", "-instance", "i", "-creds", "none-needed", *args], capture_output=True, text=True,
                              env=environment, check=False)
        return done.stdout + done.stderr


class CbtTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="steled-")
        self.database = os.path.join(self.folder.name, "db")

    def tearDown(self):
        self.folder.cleanup()

    def test_verbs(self):
        server = Server(self.database)
        cbt = server.cbt
        self.assertEqual(cbt("createtable", "shop", "families=item:maxversions=2,note", "splits=m"), "")
        self.assertIn("AlreadyExists", cbt("createtable", "shop"))
        self.assertEqual(cbt("set", "shop", "r1", "item:name=lamp@1000", "item:name=light@2000", "item:name=candle@3000", "note:=x@1000"), "")
        self.assertEqual(cbt("set", "shop", "z9", "item:name=table@1000"), "")
        lamp = row("r1", cell("item:name", 3, "candle"), cell("item:name", 2, "light"), cell("note:", 1, "x"))
        table = row("z9", cell("item:name", 1, "table"))
        self.assertEqual(cbt("read", "shop"), lamp + table)
        self.assertEqual(cbt("read", "shop", "start=s"), table)
        self.assertEqual(cbt("read", "shop", "prefix=r"), lamp)
        self.assertEqual(cbt("read", "shop", "reversed=true", "count=1"), table)
        self.assertEqual(cbt("read", "shop", "cells-per-column=1", "prefix=r"), row("r1", cell("item:name", 3, "candle"), cell("note:", 1, "x")))
        self.assertEqual(cbt("read", "shop", "columns=note:.*"), row("r1", cell("note:", 1, "x")))
        self.assertEqual(cbt("read", "shop", "regex=z.*"), table)
        self.assertIn("table", cbt("lookup", "shop", "z9"))
        self.assertEqual(cbt("count", "shop"), "2\n")
        self.assertEqual(cbt("ls"), "shop\n")
        self.assertIn("versions() > 2", cbt("ls", "shop"))
        self.assertNotIn("rror", cbt("waitforreplication", "shop"))
        self.assertIn("Requested column family not found", cbt("set", "shop", "r", "none:a=b"))
        self.assertEqual(server.end(signal.SIGTERM), 0)

    def test_families_and_deletions(self):
        server = Server(self.database, "--durability=process")
        cbt = server.cbt
        cbt("createtable", "shop", "families=item,note")
        cbt("set", "shop", "a", "item:name=lamp@1000", "note:=x@1000")
        cbt("set", "shop", "b", "item:name=table@1000")
        self.assertEqual(cbt("createfamily", "shop", "more"), "")
        self.assertEqual(cbt("setgcpolicy", "shop", "more", "maxage=10d"), "")
        self.assertIn("age() > 10d", cbt("ls", "shop"))
        self.assertEqual(cbt("deletefamily", "shop", "more"), "")
        self.assertNotIn("more", cbt("ls", "shop"))
        self.assertEqual(cbt("deletecolumn", "shop", "a", "item", "name"), "")
        self.assertEqual(cbt("deleterow", "shop", "b"), "")
        self.assertEqual(cbt("read", "shop"), row("a", cell("note:", 1, "x")))
        self.assertEqual(cbt("deleteallrows", "shop"), "")
        self.assertEqual(cbt("read", "shop"), "")
        self.assertEqual(cbt("deletetable", "shop"), "")
        self.assertEqual(cbt("ls"), "")
        self.assertIn("NotFound", cbt("read", "shop"))
        self.assertEqual(server.end(signal.SIGTERM), 0)

    def expect_same(self, found, expected):
        """For long texts, of which assertEqual takes minutes to tell the difference."""
        self.assertTrue(found == expected, f"{found[:300]} ... {found[-300:]}")

    def test_large_rows(self):
        # The Go client refuses a message that ends inside of a row, and here takes 4 MiB at most.
        value = "v" * 100_000
        server = Server(self.database, "--durability=process")
        self.assertEqual(server.cbt("createtable", "t", "families=f"), "")
        rows = {"a": 10, "b": 16, "c": 39}
        text = {}
        for key, count in rows.items():
            for i in range(0, count, 13):
                columns = [f"f:c{j:02}={value}@1000" for j in range(i, min(i + 13, count))]
                self.assertEqual(server.cbt("set", "t", key, *columns), "")
            text[key] = row(key, *(cell(f"f:c{i:02}", 1, value) for i in range(count)))
            self.expect_same(server.cbt("read", "t", f"prefix={key}"), text[key])
            self.expect_same(server.cbt("lookup", "t", key), text[key])
        self.expect_same(server.cbt("read", "t"), "".join(text.values()))
        self.expect_same(server.cbt("read", "t", "reversed=true"), "".join(reversed(text.values())))
        self.assertEqual(server.end(signal.SIGTERM), 0)

    def test_what_was_acknowledged_outlives_a_kill(self):
        acknowledged = []
        for durability in ("disk", "process", "disk"):
            server = Server(self.database, "--durability", durability)
            if not acknowledged:
                self.assertEqual(server.cbt("createtable", "t", "families=f"), "")
            for _ in range(3):
                row_key = f"r{len(acknowledged):03}"
                self.assertEqual(server.cbt("set", "t", row_key, "f:a=v@1000"), "")
                acknowledged.append(row(row_key, cell("f:a", 1, "v")))
            server.end(signal.SIGKILL)
        server = Server(self.database)
        self.assertEqual(server.cbt("read", "t"), "".join(acknowledged))
        self.assertEqual(server.end(signal.SIGINT), 0)


if __name__ == "__main__":
    run_tests()
