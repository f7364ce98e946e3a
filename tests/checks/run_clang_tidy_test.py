#!/usr/bin/env python3
"""run_clang_tidy reads exactly the files that a change touched, and fails on a finding."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from planted_tree import ROOT

SKIPPED = 77
BAD = "int Twice(int a) {\n  if (a);\n  return a * 2;\n}\n"
GOOD = "int Twice(int a) { return a * 2; }\n"


class RunClangTidy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        for name in ("tools/checks", "src/wal", "build/dev"):
            (self.root / name).mkdir(parents=True)
        shutil.copy(ROOT / "tools/checks/run_clang_tidy.py", self.root / "tools/checks")
        shutil.copy(ROOT / ".clang-tidy", self.root)
        for name in ("old", "new"):
            self.write(name, GOOD)
        commands = [
            {"directory": str(self.root), "file": f"src/wal/{name}.cc", "command": f"clang++ -std=c++20 -c src/wal/{name}.cc"}
            for name in ("old", "new")
        ]
        (self.root / "build/dev/compile_commands.json").write_text(json.dumps(commands), encoding="utf-8")
        self.git("init", "-q")
        self.git("add", "src")
        self.git("-c", "user.name=a", "-c", "user.email=a@b.example", "commit", "-q", "-m", "first")

    def git(self, *arguments):
        subprocess.run(["git", *arguments], cwd=self.root, check=True, capture_output=True)

    def write(self, name, text):
        (self.root / f"src/wal/{name}.cc").write_text(text, encoding="utf-8")

    def run_tidy(self, *arguments):
        return subprocess.run(
            [sys.executable, "tools/checks/run_clang_tidy.py", *arguments], cwd=self.root, capture_output=True, text=True, check=False
        )

    def test_a_finding_in_a_changed_file_fails(self):
        self.write("new", BAD)
        done = self.run_tidy("--since", "HEAD")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("src/wal/new.cc", done.stdout)
        self.assertIn("1 file(s), 1 with findings", done.stdout)

    def test_without_a_change_nothing_is_read(self):
        done = self.run_tidy("--since", "HEAD")
        self.assertEqual((done.returncode, done.stdout), (0, "clang-tidy: 0 file(s), 0 with findings\n"))

    def test_all_reads_every_file(self):
        done = self.run_tidy("--all")
        self.assertEqual((done.returncode, done.stdout), (0, "clang-tidy: 2 file(s), 0 with findings\n"), done.stderr)


if __name__ == "__main__":
    if shutil.which("clang-tidy-14") is None and shutil.which("clang-tidy") is None:
        print("skipped, clang-tidy is not installed")
        sys.exit(SKIPPED)
    unittest.main()
