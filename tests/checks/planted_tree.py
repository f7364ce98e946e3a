"""A small tree in which tests of the checks plant violations: the smallest project that every check
accepts.
"""
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/checks"))

CLEAN = {
    "CMakeLists.txt": "stele_layers()\n",
    "README.md": "Read `src/wal/log.h`.\n",
    "docs/internals/locking.md": "`Log::mutex_`, and the one of `src/base/bytes.h`.\n",
    "docs/layers.txt": "base:\nwal: base\ncommit: base wal\njobs: base wal\n",
    "include/stele/stele.h": "// stele/stele.h: everything.\n#pragma once\n#include \"absl/status/status.h\"\n",
    "include/stele/stats.h": "// stele/stats.h: statistics.\n#pragma once\n\nstruct Stats {\n  int rows = 0;  // rows\n};\n",
    "src/base/bytes.h": "// base/bytes.h: bytes.\n#pragma once\n",
    "src/wal/log.h": "// wal/log.h: the log.\n#pragma once\n#include \"base/bytes.h\"\n",
    "src/wal/log.cc": "#include \"wal/log.h\"\n",
    "tests/unit/wal/log_test.cc": "#include \"wal/log.h\"\n",
}


class PlantedTree:
    """A context manager: `with PlantedTree({"src/wal/log.cc": "..."}) as root` makes the clean tree
    with these files added.
    """

    def __init__(self, planted):
        self.files = {**CLEAN, **planted}

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        root = pathlib.Path(self.folder.name)
        for name, text in self.files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return root

    def __exit__(self, *_):
        self.folder.cleanup()


def messages(check, planted):
    """Returns the findings of `check` in the clean tree with `planted` added, as "name:line: text"."""
    with PlantedTree(planted) as root:
        return [f"{path.relative_to(root).as_posix()}:{line}: {text}" for path, line, text in check(root)]
