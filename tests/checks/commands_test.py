#!/usr/bin/env python3
"""Tests tools/test and tools/quickstart with fake apt-get, cmake and ctest: the packages they
install, the tests they count, and the errors they report.

The test runs a copy of tools/ in a separate directory. The fakes come first on PATH and record
their arguments.
"""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from planted_tree import ROOT

COMMANDS = ("test", "quickstart", "setup.sh", "packages.txt")
CLOSING = "{}% tests passed, {} tests failed out of {}\n"


class Commands(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "tools").mkdir()
        (self.root / "bin").mkdir()
        for name in COMMANDS:
            shutil.copy(ROOT / "tools" / name, self.root / "tools" / name)
        for preset in ("release", "dev", "asan", "tsan"):
            (self.root / "build" / preset).mkdir(parents=True)
        self.stand_in("dpkg-query", "echo installed")
        self.stand_in("id", "echo 0")
        self.stand_in("apt-get", "")
        self.stand_in("cmake", "")
        self.ctest_says(CLOSING.format(100, 0, 7))

    def stand_in(self, name, script):
        path = self.root / "bin" / name
        path.write_text(f'#!/bin/sh\necho "{name} $*" >>"{self.root}/calls"\n{script}\n', encoding="utf-8")
        path.chmod(0o755)

    def ctest_says(self, text, code=0):
        self.stand_in("ctest", f"cat <<'END'\n{text}END\nexit {code}")

    def run_command(self, *arguments, CI=""):
        environment = {**os.environ, "PATH": f"{self.root}/bin:{os.environ['PATH']}", "CI": CI, "STELE_APT_PAUSE": "0"}
        return subprocess.run(
            ["bash", *arguments], cwd=self.root, env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
        )

    def calls(self, name):
        path = self.root / "calls"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return [line for line in lines if line.split(" ")[0] == name]

    def last_lines(self, done):
        return done.stdout.rstrip("\n").split("\n")[-2:]

    def test_with_all_packages_there_nothing_is_installed(self):
        self.assertEqual(self.run_command("tools/test", "--quick").returncode, 0)
        self.assertEqual(self.calls("apt-get"), [])

    def test_only_what_is_missing_is_installed(self):
        self.stand_in("dpkg-query", 'case "$*" in *ninja-build*) echo not-installed; exit 1 ;; *) echo installed ;; esac')
        self.assertEqual(self.run_command("tools/test", "--quick").returncode, 0)
        self.assertEqual(len(self.calls("apt-get")), 2)
        self.assertTrue(self.calls("apt-get")[1].endswith(" -y --no-install-recommends ninja-build"))

    def test_a_failed_install_is_tried_again_and_is_no_failed_test(self):
        self.stand_in("dpkg-query", 'case "$*" in *zstd*) exit 1 ;; *) echo installed ;; esac')
        self.stand_in("apt-get", "exit 100")
        done = self.run_command("tools/quickstart")
        self.assertEqual(done.returncode, 75)
        self.assertRegex(done.stderr, "infrastructure: .*zstd")
        self.assertEqual(len(self.calls("apt-get")), 3)
        self.assertEqual(self.calls("cmake"), [])

    def test_an_install_that_works_at_last_is_enough(self):
        self.stand_in("dpkg-query", 'case "$*" in *zstd*) exit 1 ;; *) echo installed ;; esac')
        self.stand_in("apt-get", f'[ "$(grep -c apt-get "{self.root}/calls")" -gt 2 ]')
        self.assertEqual(self.run_command("tools/test", "--quick").returncode, 0)

    def test_too_little_disk_space_ends_it_before_anything_is_built(self):
        self.stand_in("df", 'echo "Filesystem 1024-blocks Used Available"; echo "/dev/vda 9 9 6000000 9% /"')
        done = self.run_command("tools/test")
        self.assertEqual(done.returncode, 1)
        self.assertIn("needs 6 GiB", done.stderr)
        self.assertEqual(self.calls("cmake"), [])

    def test_the_last_lines_name_what_failed(self):
        self.ctest_says("[  FAILED  ] LockTest.IsHeld (3 ms)\n[  FAILED  ] LockTest.IsHeld\n" + CLOSING.format(71, 2, 7) +
                        "The following tests FAILED:\n\t  3 - unit_db (Failed)\n\t 12 - unit_io (Timeout)\n", 8)
        done = self.run_command("tools/test", "--quick")
        self.assertIn("FAILED release: unit_db: Failed\nFAILED release: unit_io: Timeout\nFAILED release:   LockTest.IsHeld\n71%", done.stdout)

    def test_ci_may_skip_only_what_needs_other_programs(self):
        for name, code in (("lint_format", 1), ("steled_cbt", 0)):
            self.ctest_says(f"3/7 Test #3: {name} ...***Skipped   0.01 sec\n" + CLOSING.format(100, 0, 7))
            self.assertEqual(self.run_command("tools/test", "--quick", CI="true").returncode, code)

    def test_stress_runs_no_other_test(self):
        (self.root / "tools/checks").mkdir()
        (self.root / "tools/checks/stress.py").write_text("import sys\nprint('stressed', *sys.argv[1:])\n", encoding="utf-8")
        done = self.run_command("tools/test", "--stress", "LockTest", "--times", "3")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("stressed LockTest --times 3", done.stdout)
        self.assertEqual(self.calls("ctest"), [])
        self.assertEqual(self.last_lines(done)[1], "1 passed, 0 failed")

    def test_all_presets_are_added_up(self):
        done = self.run_command("tools/test")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(self.last_lines(done), ["100% tests passed, 0 tests failed out of 21", "21 passed, 0 failed"])
        self.assertEqual([call.split()[-1] for call in self.calls("ctest")], ["release", "asan", "tsan"])

    def test_a_failed_test_fails_it(self):
        self.ctest_says(CLOSING.format(71, 2, 7), 8)
        done = self.run_command("tools/test", "--quick")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(self.last_lines(done), ["71% tests passed, 2 tests failed out of 7", "5 passed, 2 failed"])

    def test_a_skipped_test_is_not_counted_as_passed(self):
        self.ctest_says("3/7 Test #3: lint_format ...***Skipped   0.01 sec\n" + CLOSING.format(100, 0, 7))
        done = self.run_command("tools/test", "--quick")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(self.last_lines(done)[1], "6 passed, 0 failed")
        self.assertIn("1 skipped", done.stdout)

    def test_no_test_at_all_fails_it(self):
        self.ctest_says("No tests were found!!!\n", 1)
        done = self.run_command("tools/test", "--quick")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(self.last_lines(done)[1], "0 passed, 1 failed")

    def test_what_does_not_build_fails_it(self):
        self.stand_in("cmake", 'case "$*" in *--build*asan*) exit 1 ;; esac')
        done = self.run_command("tools/test")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(self.last_lines(done)[1], "14 passed, 1 failed")
        self.assertIn("FAILED asan: does not build", done.stdout)

    def test_a_crashed_ctest_fails_it(self):
        self.ctest_says(CLOSING.format(100, 0, 7), 139)
        self.assertEqual(self.run_command("tools/test", "--quick").returncode, 1)

    def test_quickstart_builds_the_command_and_runs_the_job(self):
        job = self.root / "build/release/bin/stele_main_job"
        job.parent.mkdir(parents=True)
        job.write_text('#!/bin/sh\necho "job $*"\n', encoding="utf-8")
        job.chmod(0o755)
        done = self.run_command("tools/quickstart", "--small")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"job --data {self.root}/data/covid-ita/provinces.csv.zst --small", done.stdout)
        configuring, building = self.calls("cmake")
        self.assertIn("-DSTELE_BUILD_REMOTE=OFF", configuring)
        self.assertIn("--target stele stele_main_job", building)

    def test_quickstart_installs_only_what_it_needs(self):
        self.stand_in("dpkg-query", "echo not-installed; exit 1")
        self.run_command("tools/quickstart")
        installed = self.calls("apt-get")[-1].split()
        self.assertIn("libabsl-dev", installed)
        self.assertNotIn("libgrpc++-dev", installed)
        self.assertNotIn("librocksdb-dev", installed)

    def test_quickstart_keeps_a_configuration(self):
        (self.root / "build/release/build.ninja").write_text("", encoding="utf-8")
        self.run_command("tools/quickstart")
        self.assertEqual(self.calls("cmake")[0], "cmake --preset release")

    def test_a_build_from_nothing_compiles_several_files_at_once(self):
        (self.root / "build/asan/build.ninja").write_text("", encoding="utf-8")
        self.run_command("tools/test")
        configured = [call for call in self.calls("cmake") if "--build" not in call]
        self.assertEqual(configured, ["cmake --preset release -DSTELE_FRESH_BUILD=ON -DSTELE_NIGHTLY=OFF",
                                      "cmake --preset asan -DSTELE_NIGHTLY=OFF",
                                      "cmake --preset tsan -DSTELE_FRESH_BUILD=ON -DSTELE_NIGHTLY=OFF"])

    def test_a_failed_job_fails_quickstart(self):
        job = self.root / "build/release/bin/stele_main_job"
        job.parent.mkdir(parents=True)
        job.write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
        job.chmod(0o755)
        self.assertEqual(self.run_command("tools/quickstart").returncode, 3)

    def test_an_unknown_option_is_refused(self):
        done = self.run_command("tools/test", "--fast")
        self.assertEqual(done.returncode, 1)
        self.assertIn("unknown option", done.stderr)


if __name__ == "__main__":
    unittest.main()
