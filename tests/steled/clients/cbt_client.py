"""The real cbt (google-cloud-cli-cbt), run against a server of the test's."""
import os
import re
import shutil
import subprocess
import sys
import unittest

SKIPPED = 77


def cbt(address, words):
    """What it printed, errors behind it, without the time of day in it. Project p, instance i, unless the words say otherwise."""
    environment = {"BIGTABLE_EMULATOR_HOST": address, "TZ": "UTC", "HOME": "/nonexistent", "PATH": os.environ["PATH"]}
    done = subprocess.run(["cbt", "-project", "p", "-instance", "i", "-creds", "none-needed", *words], capture_output=True, text=True,
                          env=environment, check=False)
    return re.sub(r"20\d\d/\d\d/\d\d[ -]\d\d:\d\d:\d\d ", "", done.stdout + done.stderr)


def run_tests():
    """Those of the program, which has read its own arguments."""
    if shutil.which("cbt") is None:
        print("cbt: skipped, it is not installed (google-cloud-cli-cbt)")
        sys.exit(SKIPPED)
    sys.argv[1:] = []
    unittest.main()
