#!/usr/bin/env python3
"""sarif_test.py STELE: checks the SARIF output of `stele lint` against what SARIF 2.1.0 requires.

The checks are those of the OASIS standard and its JSON schema for the objects that `stele lint`
writes: required properties, types, enumerations, unique items, and no other properties.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

LEVELS = ("none", "note", "warning", "error")
URI = re.compile(r"(?:[A-Za-z0-9\-._~/:?#\[\]@!$&'()*+,;=]|%[0-9A-F]{2})*")


class Wrong(Exception):
    """A place in the document, and what is wrong there."""


def need(condition, place, what):
    if not condition:
        raise Wrong(f"{place}: {what}")


def text(value, place):
    need(isinstance(value, str), place, "not a string")
    need(value != "", place, "an empty string")


def uri(value, place):
    text(value, place)
    need(URI.fullmatch(value), place, f"not a URI: {value!r}")


def one_of(*values):
    def check(value, place):
        need(value in values, place, f"{value!r} is none of {values}")
    return check


def whole(least):
    def check(value, place):
        need(isinstance(value, int) and not isinstance(value, bool), place, "not an integer")
        need(value >= least, place, f"below {least}")
    return check


def list_of(check_item, least=0, unique=False):
    def check(value, place):
        need(isinstance(value, list), place, "not an array")
        need(len(value) >= least, place, f"fewer than {least} items")
        if unique:
            known = [json.dumps(item, sort_keys=True) for item in value]
            need(len(set(known)) == len(known), place, "repeated items")
        for index, item in enumerate(value):
            check_item(item, f"{place}[{index}]")
    return check


def map_of(check_item):
    def check(value, place):
        need(isinstance(value, dict), place, "not an object")
        for name, item in value.items():
            check_item(item, f"{place}.{name}")
    return check


def object_of(required, optional):
    def check(value, place):
        need(isinstance(value, dict), place, "not an object")
        for name in required:
            need(name in value, place, f"no {name}")
        for name, item in value.items():
            known = required.get(name) or optional.get(name)
            need(known, place, f"{name} is no property of it")
            known(item, f"{place}.{name}")
    return check


MESSAGE = object_of({"text": text}, {"markdown": text, "id": text})
REGION = object_of({"startLine": whole(1)}, {"startColumn": whole(1), "endLine": whole(1)})
ARTIFACT_LOCATION = object_of({"uri": uri}, {"uriBaseId": text, "index": whole(-1)})
PHYSICAL_LOCATION = object_of({"artifactLocation": ARTIFACT_LOCATION}, {"region": REGION})
LOGICAL_LOCATION = object_of({"name": text}, {"kind": text, "fullyQualifiedName": text})
LOCATION = object_of({}, {"physicalLocation": PHYSICAL_LOCATION,
                          "logicalLocations": list_of(LOGICAL_LOCATION, unique=True)})
SUPPRESSION = object_of({"kind": one_of("inSource", "external")},
                        {"justification": text,
                         "status": one_of("accepted", "underReview", "rejected")})
RESULT = object_of({"message": MESSAGE},
                   {"ruleId": text, "ruleIndex": whole(-1), "level": one_of(*LEVELS),
                    "locations": list_of(LOCATION), "partialFingerprints": map_of(text),
                    "suppressions": list_of(SUPPRESSION, unique=True)})
RULE = object_of({"id": text},
                 {"name": text, "shortDescription": MESSAGE, "fullDescription": MESSAGE,
                  "help": MESSAGE, "helpUri": uri,
                  "defaultConfiguration": object_of({}, {"level": one_of(*LEVELS)})})
DRIVER = object_of({"name": text},
                   {"version": text, "informationUri": uri, "rules": list_of(RULE, unique=True)})
RUN = object_of({"tool": object_of({"driver": DRIVER}, {})}, {"results": list_of(RESULT)})
LOG = object_of({"version": one_of("2.1.0"), "runs": list_of(RUN)}, {"$schema": uri})


def check_sarif(document):
    """Checks the structure, and that results refer to rules."""
    LOG(document, "$")
    for run in document["runs"]:
        rules = run["tool"]["driver"]["rules"]
        ids = [rule["id"] for rule in rules]
        need(len(set(ids)) == len(ids), "rules", "an id is repeated")
        for number, result in enumerate(run["results"]):
            place = f"results[{number}]"
            need(0 <= result["ruleIndex"] < len(rules), place, "ruleIndex is no index")
            need(ids[result["ruleIndex"]] == result["ruleId"], place, "another rule's id")
            need(len(result["locations"]) == 1, place, "not one location")
            location = result["locations"][0]
            need(location.get("logicalLocations"), place, "no logicalLocations")
            fingerprint = result["partialFingerprints"]["stele/v1"]
            need(re.fullmatch("[0-9a-f]{16}", fingerprint), place, "a wrong fingerprint")
            path = location.get("physicalLocation")
            if path is not None:
                name = path["artifactLocation"]["uri"]
                need(not name.startswith("/") and "\\" not in name, place, "an absolute path")


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)
    return path


DESIGN = b"""stele: design/1
inputs: {orders: {format: csv}}
tables:
  orders:
    families: {temperature: {}}
    key: "{id}"
    rows: [{input: orders, cells: {"temperature:v": "{v}"}}]
lint:
  ignore: [{id: SIZE-FAM-NAME, reason: "the \\"old\\" name </script>"}]
"""


def sources():
    """Returns the arguments of several runs, with the number of their results."""
    keys = write("a key file #1%.txt", b"3\n20\nann@b.com\n\\xff\\xfe\n</script>\\x1b[31m\n")
    write("schema.yaml", DESIGN)
    write("sample.csv", b"id,v\n3,a\n20,b\n3,c\n")
    gets = "".join(f'{{"t":{i},"op":"set","table":"t","row":"{i:04}"}}\n' for i in range(200))
    trace = write("trace.jsonl", gets.encode())
    yield ["--keys", keys, "--skip", "KEY-PII"], 2
    yield ["--keys", write("none.txt", b""), "--only", "KEY-PII"], 0
    yield ["--design", "schema.yaml", "--input", "orders=sample.csv"], 3
    yield ["--design", "schema.yaml"], 1
    yield ["--trace", trace], 1


def planted(document):
    """Returns documents that the check must reject."""
    for path, value in [
            (["version"], "2.0.0"), (["runs"], {}), (["$schema"], "a b"), (["extra"], 1),
            (["runs", 0, "tool"], {}), (["runs", 0, "tool", "driver", "name"], ""),
            (["runs", 0, "results", 0, "level"], "info"),
            (["runs", 0, "results", 0, "message"], {}),
            (["runs", 0, "results", 0, "ruleIndex"], 10**6),
            (["runs", 0, "results", 0, "ruleId"], "KEY-NONE"),
            (["runs", 0, "results", 0, "locations", 0, "logicalLocations"], []),
            (["runs", 0, "results", 0, "partialFingerprints", "stele/v1"], "x"),
            (["runs", 0, "results", 0, "suppressions"], [{"kind": "skip"}]),
            (["runs", 0, "results", 0, "locations", 0, "physicalLocation"],
             {"artifactLocation": {"uri": "/etc/passwd"}})]:
        copy = json.loads(json.dumps(document))
        place = copy
        for name in path[:-1]:
            place = place[name]
        place[path[-1]] = value
        yield path, copy


def main():
    stele = os.path.abspath(sys.argv[1])
    failures = 0
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        for arguments, result_count in sources():
            run = subprocess.run([stele, "lint", *arguments, "--format", "sarif", "-o", "out.sarif"],
                                 capture_output=True, check=False)
            try:
                need(run.returncode in (0, 3), "status", f"{run.returncode}: {run.stderr!r}")
                with open("out.sarif", encoding="utf-8") as file:
                    document = json.load(file)
                check_sarif(document)
                count = len(document["runs"][0]["results"])
                need(count == result_count, "results", f"{count}, not {result_count}")
                if count == 0:
                    continue
                for path, wrong in planted(document):
                    try:
                        check_sarif(wrong)
                    except Wrong:
                        continue
                    raise Wrong(f"{path}: the planted error was not found")
            except (Wrong, OSError, ValueError, KeyError) as error:
                failures += 1
                print(f"stele lint {' '.join(arguments)}: {error!r}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
