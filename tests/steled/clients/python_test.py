#!/usr/bin/env python3
"""python_test.py STELED SOURCE_FOLDER FOLDER: a client of gRPC's Python library against the built server.

protoc and grpc_python_plugin make its stubs from src/remote/wire in FOLDER. Data and admin calls, streams, cancellation, deadlines, errors.

Without python3-grpcio, python3-protobuf, protoc and grpc_python_plugin (protobuf-compiler-grpc) nothing is tested: that is said, and the exit
code is 77 (skipped). A Python that cannot import grpc gives way to Debian's, /usr/bin/python3.
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

SKIPPED = 77
DEBIAN_PYTHON = "/usr/bin/python3"


def skip(reason):
    print(f"python: skipped, {reason}")
    sys.exit(SKIPPED)


try:
    import google.protobuf.empty_pb2  # noqa: F401, the stubs need it
    import grpc
except ImportError:
    if os.path.exists(DEBIAN_PYTHON) and "STELED_PYTHON_TRIED" not in os.environ:
        os.environ["STELED_PYTHON_TRIED"] = "1"
        os.execv(DEBIAN_PYTHON, [DEBIAN_PYTHON, *sys.argv])
    skip("python3-grpcio and python3-protobuf are not installed")

if shutil.which("protoc") is None or shutil.which("grpc_python_plugin") is None:
    skip("protoc and grpc_python_plugin are not installed")

from steled_process import Steled  # noqa: E402, after the check above

STELED, SOURCES, FOLDER = sys.argv[1:4]


def generate():
    """Makes the stubs and lets this process import them."""
    folder = pathlib.Path(FOLDER)
    folder.mkdir(parents=True, exist_ok=True)
    protos = sorted(str(path.relative_to(SOURCES)) for path in pathlib.Path(SOURCES, "remote/wire").glob("*.proto"))
    plugin = shutil.which("grpc_python_plugin")
    subprocess.run(["protoc", f"-I{SOURCES}", f"--python_out={folder}", f"--grpc_out={folder}", f"--plugin=protoc-gen-grpc={plugin}", *protos],
                   check=True)
    sys.path.insert(0, str(folder))


generate()

from remote.wire import bigtable_pb2, bigtable_pb2_grpc, data_pb2  # noqa: E402
from remote.wire import instance_admin_pb2, instance_admin_pb2_grpc  # noqa: E402
from remote.wire import operations_pb2, operations_pb2_grpc, table_admin_pb2, table_admin_pb2_grpc, table_pb2  # noqa: E402

INSTANCE = "projects/p/instances/i"
TABLE = INSTANCE + "/tables/t"


def set_cell(value, qualifier=b"q"):
    return data_pb2.Mutation(set_cell=data_pb2.Mutation.SetCell(family_name="f", column_qualifier=qualifier, timestamp_micros=1000, value=value))


class PythonTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="steled-python-")
        self.server = Steled(STELED, os.path.join(self.folder.name, "db"), "--durability=process")
        self.channel = grpc.insecure_channel(self.server.address)
        self.data = bigtable_pb2_grpc.BigtableStub(self.channel)
        self.admin = table_admin_pb2_grpc.BigtableTableAdminStub(self.channel)
        self.instances = instance_admin_pb2_grpc.BigtableInstanceAdminStub(self.channel)
        self.operations = operations_pb2_grpc.OperationsStub(self.channel)
        table = table_pb2.Table(column_families={"f": table_pb2.ColumnFamily()})
        self.admin.CreateTable(table_admin_pb2.CreateTableRequest(parent=INSTANCE, table_id="t", table=table))

    def tearDown(self):
        self.channel.close()
        self.assertEqual(self.server.end(signal.SIGTERM), 0)
        self.folder.cleanup()

    def write(self, values):
        """Rows "r00000" and on, in one MutateRows."""
        entries = [bigtable_pb2.MutateRowsRequest.Entry(row_key=b"r%05d" % i, mutations=[set_cell(value)]) for i, value in enumerate(values)]
        written = 0
        for response in self.data.MutateRows(bigtable_pb2.MutateRowsRequest(table_name=TABLE, entries=entries)):
            written += sum(entry.status.code == 0 for entry in response.entries)
        self.assertEqual(written, len(entries))

    def read(self, **request):
        """{row key: value} of the one cell that each row has."""
        rows = {}
        row_key = None
        value = b""
        for response in self.data.ReadRows(bigtable_pb2.ReadRowsRequest(table_name=TABLE, **request)):
            for chunk in response.chunks:
                row_key = chunk.row_key or row_key
                value += chunk.value
                if chunk.commit_row:
                    rows[row_key], value = value, b""
        return rows

    def assert_fails(self, code, call, request, **options):
        with self.assertRaises(grpc.RpcError) as raised:
            call(request, **options)
        self.assertEqual(raised.exception.code(), code, raised.exception.details())

    def test_rows(self):
        self.data.MutateRow(bigtable_pb2.MutateRowRequest(table_name=TABLE, row_key=b"a", mutations=[set_cell(b"one")]))
        self.assertEqual(self.read(), {b"a": b"one"})
        increment = data_pb2.ReadModifyWriteRule(family_name="f", column_qualifier=b"n", increment_amount=7)
        row = self.data.ReadModifyWriteRow(bigtable_pb2.ReadModifyWriteRowRequest(table_name=TABLE, row_key=b"n", rules=[increment])).row
        self.assertEqual(int.from_bytes(row.families[0].columns[0].cells[0].value, "big"), 7)
        check = bigtable_pb2.CheckAndMutateRowRequest(table_name=TABLE, row_key=b"a", true_mutations=[set_cell(b"two")])
        self.assertTrue(self.data.CheckAndMutateRow(check).predicate_matched)
        self.assertEqual(self.read(rows=data_pb2.RowSet(row_keys=[b"a"])), {b"a": b"two"})
        samples = list(self.data.SampleRowKeys(bigtable_pb2.SampleRowKeysRequest(table_name=TABLE)))
        self.assertEqual(samples[0].row_key, b"n")

    def test_a_long_stream_is_whole(self):
        values = [bytes([i % 251]) * 1000 for i in range(5000)]
        self.write(values)
        self.assertEqual(self.read(), {b"r%05d" % i: value for i, value in enumerate(values)})
        self.assertEqual(list(self.read(rows_limit=2, reversed=True)), [b"r04999", b"r04998"])
        large = b"x" * (3 << 20)
        self.data.MutateRow(bigtable_pb2.MutateRowRequest(table_name=TABLE, row_key=b"z", mutations=[set_cell(large)]))
        self.assertEqual(self.read(rows=data_pb2.RowSet(row_keys=[b"z"])), {b"z": large})

    def test_a_stream_can_be_cancelled(self):
        self.write([b"x" * 10_000] * 5000)
        stream = self.data.ReadRows(bigtable_pb2.ReadRowsRequest(table_name=TABLE))
        next(stream)
        stream.cancel()
        with self.assertRaises(grpc.RpcError) as raised:
            list(stream)
        self.assertEqual(raised.exception.code(), grpc.StatusCode.CANCELLED)
        self.assertEqual(len(self.read(rows_limit=3)), 3)

    def test_calls_run_side_by_side(self):
        failures = []

        def work(number):
            try:
                for i in range(50):
                    row_key = b"%d/%d" % (number, i)
                    self.data.MutateRow(bigtable_pb2.MutateRowRequest(table_name=TABLE, row_key=row_key, mutations=[set_cell(row_key)]))
                    if self.read(rows=data_pb2.RowSet(row_keys=[row_key])) != {row_key: row_key}:
                        failures.append(row_key)
            except grpc.RpcError as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertEqual(len(self.read()), 400)

    def test_errors_have_their_codes(self):
        code = grpc.StatusCode
        wrong = bigtable_pb2.MutateRowRequest(table_name=TABLE + "x", row_key=b"a", mutations=[set_cell(b"v")])
        self.assert_fails(code.NOT_FOUND, self.data.MutateRow, wrong)
        self.assert_fails(code.INVALID_ARGUMENT, self.data.MutateRow, bigtable_pb2.MutateRowRequest(table_name=TABLE, row_key=b"a"))
        again = table_admin_pb2.CreateTableRequest(parent=INSTANCE, table_id="t")
        self.assert_fails(code.ALREADY_EXISTS, self.admin.CreateTable, again)
        unknown = self.channel.unary_unary("/google.bigtable.v2.Bigtable/ExecuteQuery", request_serializer=lambda text: text)
        self.assert_fails(code.UNIMPLEMENTED, unknown, b"")

    def test_tables_backups_and_operations(self):
        self.write([b"v"])
        backup = table_pb2.Backup(source_table=TABLE, backup_type=table_pb2.Backup.HOT)
        started = self.admin.GetTable(table_admin_pb2.GetTableRequest(name=TABLE, view=table_pb2.Table.FULL))
        cluster = INSTANCE + "/clusters/" + next(iter(started.cluster_states))
        backup.expire_time.GetCurrentTime()
        backup.expire_time.seconds += 7 * 3600
        operation = self.admin.CreateBackup(table_admin_pb2.CreateBackupRequest(parent=cluster, backup_id="b", backup=backup))
        operation = self.operations.WaitOperation(operations_pb2.WaitOperationRequest(name=operation.name), timeout=280)
        self.assertTrue(operation.done)
        made = table_pb2.Backup()
        self.assertTrue(operation.response.Unpack(made))
        self.assertEqual(made.backup_type, table_pb2.Backup.HOT)
        names = [found.name for found in self.operations.ListOperations(operations_pb2.ListOperationsRequest(name="operations")).operations]
        self.assertIn(operation.name, names)
        self.operations.DeleteOperation(operations_pb2.DeleteOperationRequest(name=operation.name))
        self.assert_fails(grpc.StatusCode.NOT_FOUND, self.operations.GetOperation, operations_pb2.GetOperationRequest(name=operation.name))
        self.admin.DeleteTable(table_admin_pb2.DeleteTableRequest(name=TABLE))
        self.assertEqual(len(self.admin.ListTables(table_admin_pb2.ListTablesRequest(parent=INSTANCE)).tables), 0)
        self.admin.UndeleteTable(table_admin_pb2.UndeleteTableRequest(name=TABLE))
        self.assertEqual(self.read(), {b"r00000": b"v"})
        self.instances.ListHotTablets(instance_admin_pb2.ListHotTabletsRequest(parent=cluster))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
