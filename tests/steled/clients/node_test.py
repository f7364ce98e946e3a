#!/usr/bin/env python3
"""node_test.py STELED FOLDER: Node's client for Bigtable (tests/steled/clients/node) against the built server.

The client and what it needs come from npm into FOLDER, in the versions that package-lock.json fixes, once for each state of that file. Without
node, npm or a registry nothing is tested: that is said, and the exit code is 77 (skipped).
"""
import hashlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

from steled_process import Steled

SKIPPED = 77
NODE_VERSION_MIN = 18  # what the client asks for
INSTALL_SECONDS_MAX = 400
TEST_SECONDS_MAX = 300
SOURCES = pathlib.Path(__file__).resolve().parent / "node"


def skip(reason):
    print(f"node: skipped, {reason}")
    sys.exit(SKIPPED)


def node_version():
    if shutil.which("node") is None or shutil.which("npm") is None:
        skip("node and npm are not installed")
    text = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
    return int(text.lstrip("v").split(".")[0])


def is_registry_there(folder):
    try:
        asked = subprocess.run(["npm", "view", "@google-cloud/bigtable@6.5.0", "version"], cwd=folder, capture_output=True, timeout=60, check=False)
    except subprocess.TimeoutExpired:
        return False
    return asked.returncode == 0


def install(folder):
    """Brings `folder` to the state of the sources; the modules only where the lock file changed."""
    folder.mkdir(parents=True, exist_ok=True)
    for source in SOURCES.iterdir():
        shutil.copy(source, folder)
    state = hashlib.sha256((folder / "package-lock.json").read_bytes()).hexdigest()
    stamp = folder / "installed"
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == state:
        return
    stamp.unlink(missing_ok=True)
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=INSTALL_SECONDS_MAX, check=False)
    except subprocess.TimeoutExpired:
        skip("the registry does not answer in time")
    if done.returncode != 0:
        if not is_registry_there(folder):
            skip("the registry cannot be reached")
        sys.exit(f"npm ci failed:\n{done.stdout}{done.stderr}")
    stamp.write_text(state, encoding="utf-8")


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    if node_version() < NODE_VERSION_MIN:
        skip(f"the client needs node {NODE_VERSION_MIN}")
    install(folder)
    with tempfile.TemporaryDirectory(prefix="steled-") as scratch:
        server = Steled(program, os.path.join(scratch, "db"), "--durability=process")
        tests = sorted(source.name for source in SOURCES.glob("*.test.mjs"))
        environment = {**os.environ, "BIGTABLE_EMULATOR_HOST": server.address}
        code = subprocess.run(["node", "--test", "--test-reporter=spec", *tests], cwd=folder, env=environment, timeout=TEST_SECONDS_MAX,
                              check=False).returncode
        ended = server.end(signal.SIGTERM)
    if ended != 0:
        sys.exit(f"steled ended with {ended}")
    sys.exit(code)


if __name__ == "__main__":
    main()
