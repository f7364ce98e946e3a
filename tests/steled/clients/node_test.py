#!/usr/bin/env python3
"""node_test.py STELED FOLDER: Node's client for Bigtable (tests/steled/clients/node) against the built server.

npm installs the client and its dependencies into FOLDER, in the versions of package-lock.json, once for each state of that file. Without node, or
if npm fails for any reason, nothing is tested. The test then prints why, and exits with 77 (skipped).
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
TEST_SECONDS_MAX = 1200
SOURCES = pathlib.Path(__file__).resolve().parent / "node"


def skip(reason):
    print(f"node: skipped, {reason}")
    sys.exit(SKIPPED)


def node_version():
    if shutil.which("node") is None or shutil.which("npm") is None:
        skip("node and npm are not installed")
    text = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
    return int(text.lstrip("v").split(".")[0])


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
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--fetch-retries=5"]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=INSTALL_SECONDS_MAX, check=False)
    except subprocess.TimeoutExpired:
        skip("the registry does not answer in time")
    if done.returncode != 0:
        skip(f"npm could not install the client:\n{done.stdout}{done.stderr}")
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
