#!/usr/bin/env python3
"""run_console.py PAGE.md STELE [STELED]: runs a page's ```console blocks in one shell, and compares
the output of each command with the page.

A page that mentions examples/lab finds a copy of it, and data/, in its working directory. If the
commands of a page make a picture that the page shows, ![text](name.png), both must be the same.
A line that begins with "$ " is a command. The lines below it are its output on standard output and
standard error. "..." matches any text within a line, and tabs match spaces. The port 8086 is
replaced by a free one. If a page needs steled and it is missing or unreachable, the program prints
that and exits with 77 (skipped).
"""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import zlib

from free_port import free_port

SKIPPED = 77
END = "--- end of command, status "
PNG_MAGIC = b"\x89PNG\r\n\x1a\n"
PICTURE = re.compile(r"!\[[^\]]*\]\(([^)]+\.png)\)")
ROOT = pathlib.Path(__file__).resolve().parents[2]


def commands(text):
    """Returns (line, command, [expected lines]) for each command on the page."""
    found = []
    inside = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("```"):
            inside = line == "```console"
        elif inside and line.startswith("$ "):
            found.append((number, line[2:], []))
        elif inside:
            found[-1][2].append(line)
    return found


def spaces_alike(line):
    return re.sub(r"\s+", " ", line).strip()


def matches(expected, said):
    pattern = "\n".join(".*".join(re.escape(part) for part in spaces_alike(line).split("...")) for line in expected)
    return re.fullmatch(pattern, "\n".join(map(spaces_alike, said))) is not None


class Shell:
    """One bash for the whole page. Its child processes end with it."""

    def __init__(self, folder, programs):
        bin_folder = pathlib.Path(folder, "bin")
        bin_folder.mkdir()
        for program in programs:
            (bin_folder / pathlib.Path(program).name).symlink_to(pathlib.Path(program).resolve())
        self.work = pathlib.Path(folder, "work")
        self.work.mkdir()
        environment = {"PATH": f"{bin_folder}:{os.environ['PATH']}", "TZ": "UTC", "HOME": str(self.work), "LC_ALL": "C.UTF-8"}
        self.process = subprocess.Popen(["bash"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=self.work,
                                        env=environment, start_new_session=True)

    def run(self, command):
        """Returns the output lines and the exit status."""
        self.process.stdin.write(f"{command}\necho \"{END}$?\"\n")
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            if line.startswith(END):
                return lines, int(line[len(END):])
            lines.append(line.rstrip("\n"))
        sys.exit(f"the shell ended at: {command}")

    def end(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def can_reach_servers(stele):
    done = subprocess.run([stele, "--db", "bigtable://p/i?endpoint=127.0.0.1:1&retry_seconds=0", "ls"], capture_output=True, text=True, check=False)
    return "stele::remote" not in done.stderr


def add_source_tree(work):
    """Makes `work` look like the root of the source tree to a page."""
    shutil.copytree(ROOT / "examples" / "lab", work / "examples" / "lab")
    (work / "data").symlink_to(ROOT / "data")


def png_contents(data):
    """Returns the chunks of a PNG. Its pixels are decompressed: versions of zlib compress differently."""
    if not data.startswith(PNG_MAGIC):
        return None
    chunks, pixels, at = [], b"", len(PNG_MAGIC)
    while at < len(data):
        size, kind = int.from_bytes(data[at:at + 4], "big"), data[at + 4:at + 8]
        body = data[at + 8:at + 8 + size]
        at += size + 12
        if kind == b"IDAT":
            pixels += body
        else:
            chunks.append((kind, body))
    return chunks, zlib.decompress(pixels)


def different_pictures(page, text, work):
    """Returns the pictures of a page that its commands made, but not as the page shows them."""
    made = [(name, work / pathlib.Path(name).name) for name in PICTURE.findall(text)]
    return [name for name, path in made
            if path.exists() and png_contents(path.read_bytes()) != png_contents((page.parent / name).read_bytes())]


def run_page(page, programs):
    wrong = 0
    text = page.read_text(encoding="utf-8")
    port = str(free_port())
    with tempfile.TemporaryDirectory() as folder:
        shell = Shell(folder, programs)
        if "examples/lab" in text:
            add_source_tree(shell.work)
        for number, command, expected in commands(text):
            said, status = shell.run(command.replace("8086", port))
            if status == 0 and matches(expected, said):
                continue
            wrong += 1
            print(f"{page}:{number}: $ {command}\n", "\n".join(said), f"\nexit status {status}; the page says\n", "\n".join(expected))
        for name in different_pictures(page, text, shell.work):
            wrong += 1
            print(f"{page}: the commands make another {name}; copy theirs")
        shell.end()
    return wrong


def main():
    page = pathlib.Path(sys.argv[1])
    programs = sys.argv[2:]
    count = len(commands(page.read_text(encoding="utf-8")))
    if count == 0:
        sys.exit(f"{page}: there is no command to run")
    if len(programs) == 2 and not can_reach_servers(programs[0]):
        print("skipped: the command was built without stele::remote")
        sys.exit(SKIPPED)
    wrong = run_page(page, programs)
    print(f"{count} commands, {wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
