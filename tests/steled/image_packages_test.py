#!/usr/bin/env python3
"""image_packages_test.py DOCKERFILE PROGRAM...: the image of DOCKERFILE installs the packages of all libraries that the programs are linked
with.

The image is Debian 12. On another system nothing is tested, that is said, and the exit code is 77 (skipped).
"""
import pathlib
import re
import shutil
import subprocess
import sys

SKIPPED = 77
# Dependencies of every other package.
ALWAYS_INSTALLED = {"libc6", "libgcc-s1", "libstdc++6"}


def output_of(*command):
    return subprocess.run(command, check=False, capture_output=True, text=True).stdout


def installed_packages(dockerfile):
    """Returns the packages of the last stage."""
    stage = dockerfile.read_text(encoding="utf-8").rpartition("\nFROM ")[2]
    installed = re.search(r"apt-get install (.*?)&&", stage, re.S)
    return {word for word in installed.group(1).split() if word != "\\" and not word.startswith("-")}


def linked_libraries(program):
    """Returns name -> path of the libraries that the program itself names, not of those that they need."""
    named = set(re.findall(r"\(NEEDED\).*\[(.*)\]", output_of("readelf", "-d", program)))
    paths = dict(re.findall(r"^\s*(\S+) => (/\S+)", output_of("ldd", program), re.M))
    return {name: path for name, path in paths.items() if name in named}


def package_of(path):
    """Returns the package of a library; "" if it is of none. dpkg has either name of a directory that /usr was merged with."""
    real = str(pathlib.Path(path).resolve())
    for name in (path, real, real.removeprefix("/usr"), "/usr" + path):
        found = output_of("dpkg", "-S", name)
        if found:
            return found.split(":")[0]
    return ""


def main():
    dockerfile, programs = pathlib.Path(sys.argv[1]), sys.argv[2:]
    system = pathlib.Path("/etc/os-release")
    is_debian = system.exists() and re.search(r'^ID=debian$', system.read_text(encoding="utf-8"), re.M) and re.search(
        r'^VERSION_ID="12"$', system.read_text(encoding="utf-8"), re.M)
    if not is_debian or not all(shutil.which(tool) for tool in ("dpkg", "ldd", "readelf")):
        print("image packages: skipped, this is not Debian 12 with dpkg, ldd and readelf")
        return SKIPPED
    packages = installed_packages(dockerfile) | ALWAYS_INSTALLED
    missing = set()
    for program in programs:
        libraries = linked_libraries(program)
        if not libraries:
            sys.exit(f"{program}: no library was found")
        missing |= {(name, package) for name, path in libraries.items() if (package := package_of(path)) not in packages}
    for name, package in sorted(missing):
        print(f"{dockerfile}: add {package or 'the package'} for {name}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
