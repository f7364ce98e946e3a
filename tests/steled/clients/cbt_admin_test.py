#!/usr/bin/env python3
"""cbt_admin_test.py STELED: what cbt asks of instances, clusters and app profiles, and every other argument that it takes for rows and families.

Each command is followed by what it prints, errors included. The first test holds the commands that the tests of cbt give against those that
cbt has. Without cbt nothing is tested, and the exit code is 77.
"""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

from cbt_client import cbt, run_tests
from steled_process import Steled

STELED = sys.argv[1] if len(sys.argv) > 1 else ""
HERE = pathlib.Path(__file__).parent
# They talk to no server.
LOCAL = {"doc", "help", "mddoc", "notices", "version"}

# "> " a command, its words by '|', which two of are one word's; behind it what of its lines counts, blanks made one. FOLDER: where the script's files are.
INSTANCES = """
> createinstance|shop|My shop|c1|us-central1-b|3|SSD
> createinstance|shop|My shop|c1|us-central1-b|3|SSD
Creating instance: rpc error: code = AlreadyExists desc = Instance already exists: projects/p/instances/shop
> createinstance|none|My shop|c/1|us-central1-b|3|HDD
Creating instance: rpc error: code = InvalidArgument
> listinstances
shop My shop
> -instance|shop|createcluster|c2|europe-west1-b|2|HDD
> -instance|shop|createcluster|c2|europe-west1-b|2|HDD
Creating cluster: rpc error: code = AlreadyExists desc = Cluster already exists: projects/p/instances/shop/clusters/c2
> -instance|shop|updatecluster|c2|num-nodes=5
> -instance|shop|updatecluster|none|num-nodes=5
Updating cluster: rpc error: code = NotFound desc = Cluster not found: projects/p/instances/shop/clusters/none
> -instance|shop|listclusters
c1 us-central1-b READY (3 serve nodes)
c2 europe-west1-b READY (5 serve nodes)
> -instance|shop|deletecluster|c2
> -instance|shop|deletecluster|c2
Deleting cluster: rpc error: code = NotFound desc = Cluster not found: projects/p/instances/shop/clusters/c2
> -instance|shop|deletecluster|c1
Deleting cluster: rpc error: code = FailedPrecondition desc = The last cluster of an instance stays: projects/p/instances/shop/clusters/c1
> -instance|shop|listclusters
c1 us-central1-b READY (3 serve nodes)
> createappprofile|shop|any|Anywhere|route-any
Name: projects/p/instances/shop/appProfiles/any
> createappprofile|shop|one|Here|route-to=c1|transactional-writes=true|force=true
Name: projects/p/instances/shop/appProfiles/one
> createappprofile|shop|any|Anywhere|route-any
Failed to create app profile : rpc error: code = AlreadyExists desc = App profile already exists: projects/p/instances/shop/appProfiles/any
> getappprofile|shop|one
Name: projects/p/instances/shop/appProfiles/one
Description: Here
RoutingPolicy: &{cluster_id:"c1" allow_transactional_writes:true}
> updateappprofile|shop|any|There|route-to=c1|force=true
> getappprofile|shop|any
Description: There
RoutingPolicy: &{cluster_id:"c1"}
> updateappprofile|shop|any|Anywhere again|route-any
> getappprofile|shop|any
Description: Anywhere again
RoutingPolicy: &{}
> updateappprofile|shop|none|There|route-any
Failed to update app profile : rpc error: code = NotFound desc = App profile not found: projects/p/instances/shop/appProfiles/none
> listappprofile|shop
projects/p/instances/shop/appProfiles/any Anywhere again 3 &{}
projects/p/instances/shop/appProfiles/default default 0 &{cluster_id:"c1" allow_transactional_writes:true}
> deleteappprofile|shop|any
> getappprofile|shop|any
Failed to get app profile : rpc error: code = NotFound desc = App profile not found: projects/p/instances/shop/appProfiles/any
> deleteappprofile|shop|default
rpc error: code = FailedPrecondition desc = The default app profile stays: projects/p/instances/shop/appProfiles/default
> -instance|shop|createtable|t|families=f
> deleteinstance|shop
> deleteinstance|shop
Deleting instance: rpc error: code = NotFound desc = Instance not found: projects/p/instances/shop
> -instance|shop|ls
> -instance|shop|listclusters
local local READY (1 serve nodes)
"""

ROWS = """
> createtable|t|families=f:maxage=10d||maxversions=1,g:maxage=1h&&maxversions=2,n:never:inthll,sum:maxversions=1:intsum
> createtable|strings|families=s:never:stringutf8bytes
> createfamily|strings|t:maxversions=1:stringutf8bytes
> ls|strings
s {"stringType":{"encoding":{"utf8Bytes":{}}}}
t versions() > 1 {"stringType":{"encoding":{"utf8Bytes":{}}}}
> set|strings|r|s:a=text@1000
> read|strings
"text"
> ls|t
f (age() > 10d || versions() > 1)
g (age() > 1h && versions() > 2)
"hllppUniqueCount"
> createfamily|t|h:maxversions=2
> createfamily|t|least:never:intmin
> setgcpolicy|t|h|maxage=3d|and|maxversions=1|force
> setgcpolicy|t|none|maxage=3d
Setting GC policy: rpc error: code = NotFound
> ls|t
h (age() > 3d && versions() > 1)
> setvaluetype|t|h|stringutf8bytes
> setvaluetype|t|n|stringutf8bytes
Set value type: rpc error: code = InvalidArgument desc = Immutable fields 'value_type.aggregate_type' cannot be updated
> setvaluetype|t|none|stringutf8bytes
Set value type: rpc error: code = NotFound
> ls|t
h (age() > 3d && versions() > 1) {"stringType":{"encoding":{"utf8Bytes":{}}}}
> addtocell|t|sums|app-profile=any|sum:a=5@1000|sum:b=-7@2000
> addtocell|t|sums|n:a=5@1000|n:a=6@1000
> set|t|r1|app-profile=any|f:a=one@1785000000000000|h:a=two@1785000000001000
> set|t|r1|authorized-view=v|f:a=one
Applying mutation: rpc error: code = Unimplemented desc = Views are not offered; name a table
> read|t|authorized-view=v
Reading rows: rpc error: code = Unimplemented desc = Views are not offered; name a table
> import|t|FOLDER/plain.csv|column-family=g|batch-size=1|workers=3|app-profile=any
Done importing 2 rows.
> import|t|FOLDER/families.csv|timestamp=now
Done importing 1 rows.
> read|t|start=k1|end=k3|keys-only=true|app-profile=any|include-stats=full
k1
k2
rows_seen_count: 2
> read|t|regex=(
Reading rows: rpc error: code = InvalidArgument
> read|t|reversed=true|start=k1|end=k3|count=1|columns=g:a
k2
g:a
> lookup|t|sums|columns=sum:a,b|include-stats=full
"\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x05"
"\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xf9"
cells_returned_count: 2
> set|t|cat|f:cat=\x12\x03Tom
> lookup|t|cat|format-file=FOLDER/format.yaml
name: "Tom"
> count|t|prefix=k
3
> count|none
Reading rows: rpc error: code = NotFound desc = Table not found: projects/p/instances/i/tables/none
> deletecolumn|t|k1|g|a|app-profile=any
> deleterow|t|k2|app-profile=any
> count|t|prefix=k
2
> waitforreplication|none
Waiting for replication: rpc error: code = NotFound
> deleteallrows|none
Deleting all rows: rpc error: code = NotFound desc = Table not found: projects/p/instances/i/tables/none
> -timeout|1ns|count|t
Reading rows: rpc error: code = DeadlineExceeded
> -o|FOLDER/out.txt|count|t
"""

FILES = {
    "plain.csv": ",a,b\nk1,1,2\nk2,3,\n",
    "families.csv": ",f,g\n,a,b\nk3,x,y\n",
    "cat.proto": "syntax = \"proto3\";\nmessage Cat { string name = 2; }\n",
    "format.yaml": "protocol_buffer_definitions:\n  - cat.proto\nprotocol_buffer_paths:\n  - FOLDER\nfamilies:\n  f:\n    columns:\n"
                   "      cat:\n        encoding: ProtocolBuffer\n        type: Cat\n",
}


class AdminTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="steled-")
        for name, text in FILES.items():
            pathlib.Path(self.folder.name, name).write_text(text.replace("FOLDER", self.folder.name), encoding="utf-8")
        self.server = Steled(STELED, os.path.join(self.folder.name, "db"), "--durability=process")

    def tearDown(self):
        self.assertEqual(self.server.end(signal.SIGTERM), 0)
        self.folder.cleanup()

    def test_every_command_is_driven(self):
        listed = subprocess.run(["cbt", "help"], capture_output=True, text=True, check=True).stdout
        commands = set(re.findall(r"^cbt (\w+)\t", listed, re.MULTILINE))
        self.assertGreater(len(commands), 30)
        texts = "".join((HERE / name).read_text(encoding="utf-8") for name in ("cbt_script_test.py", "cbt_admin_test.py"))
        driven = set(re.findall(r"^(?:> )?(?:-\w+\|\w+\|)?(\w+)(?:\||$)", texts, re.MULTILINE))
        self.assertEqual(commands - driven - LOCAL, set())

    def test_instances(self):
        self.run_script(INSTANCES)

    def test_rows(self):
        self.run_script(ROWS)
        self.assertEqual(pathlib.Path(self.folder.name, "out.txt").read_text(encoding="utf-8"), "5\n")

    def run_script(self, script):
        for step in script.strip().removeprefix("> ").split("\n> "):
            command, *wanted = step.split("\n")
            words = re.split(r"(?<!\|)\|(?!\|)", command.replace("FOLDER", self.folder.name))
            with self.subTest(command=command):
                printed = " ".join(cbt(self.server.address, words).split())
                for line in wanted:
                    self.assertIn(line, printed)
                if not wanted:
                    self.assertEqual(printed, "")


if __name__ == "__main__":
    run_tests()
