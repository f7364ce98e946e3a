#!/usr/bin/env python3
"""remote_tls_test.py STELE STELED: the stele command on a steled with TLS, whose certificate an authority of the test's own signed.

Where openssl makes no certificates nothing is tested, and the exit code is 77.
"""
import os
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import unittest

from steled_process import Steled

SKIPPED = 77
STELE, STELED = sys.argv[1:3] if len(sys.argv) > 2 else ("", "")
NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]


def openssl(folder, *words):
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


def make_authority(folder, name):
    openssl(folder, "req", "-x509", *NEW_KEY, "-days", "2", "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.pem")


def sign(folder, authority, name, address):
    pathlib.Path(folder, f"{name}.ext").write_text(f"subjectAltName={address}\n", encoding="utf-8")
    openssl(folder, "req", *NEW_KEY, "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.csr")
    openssl(folder, "x509", "-req", "-days", "2", "-in", f"{name}.csr", "-CA", f"{authority}.pem", "-CAkey", f"{authority}.key", "-CAcreateserial",
            "-extfile", f"{name}.ext", "-out", f"{name}.pem")


class TlsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="steled-")
        for name in ("ours", "theirs"):
            make_authority(cls.folder.name, name)
        sign(cls.folder.name, "ours", "server", "IP:127.0.0.1")
        sign(cls.folder.name, "ours", "elsewhere", "IP:127.9.9.9")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def start(self, certificate, *flags, stderr=None):
        file = pathlib.Path(self.folder.name)
        server = Steled(STELED, str(file / f"{self.id()}.db"), "--durability=process", "--tls-cert", str(file / f"{certificate}.pem"), "--tls-key",
                        str(file / f"{certificate}.key"), *flags, stderr=stderr)
        self.addCleanup(lambda: self.assertEqual(server.end(signal.SIGTERM), 0))
        return server

    def stele(self, server, authority, *words, parameters="&tls=1"):
        """What was printed, and errors behind it."""
        environment = {"PATH": os.environ["PATH"]}
        if authority:
            environment["GRPC_DEFAULT_SSL_ROOTS_FILE_PATH"] = str(pathlib.Path(self.folder.name, f"{authority}.pem"))
        # One attempt: who is not trusted is not trusted later.
        location = f"bigtable://p/i?endpoint={server.address}&retry_seconds=0{parameters}"
        done = subprocess.run([STELE, "--db", location, *words], capture_output=True, text=True, env=environment, check=False)
        # One line of the command's own, and none of gRPC's.
        self.assertEqual(done.stderr.count("\n"), 0 if done.returncode == 0 else 1, done.stderr)
        return done.stdout + done.stderr

    def test_works_under_the_authority_that_is_named(self):
        server = self.start("server")
        self.assertEqual(self.stele(server, "ours", "createtable", "t", "families=f"), "")
        self.assertEqual(self.stele(server, "ours", "set", "t", "r", "f:q=value"), "")
        self.assertIn("value", self.stele(server, "ours", "read", "t"))
        self.assertEqual(self.stele(server, "ours", "ls"), "t\n")

    def test_trusts_nobody_else(self):
        server = self.start("server")
        self.assertIn("certificate verify failed", self.stele(server, "theirs", "ls"))
        self.assertIn("certificate verify failed", self.stele(server, "", "ls"))
        self.assertIn("UNAVAILABLE", self.stele(server, "ours", "ls", parameters=""))

    def test_trusts_a_certificate_for_its_own_address_alone(self):
        self.assertIn("Peer name 127.0.0.1 is not in peer certificate", self.stele(self.start("elsewhere"), "ours", "ls"))

    def test_takes_new_files_on_sighup_and_keeps_the_old_ones_if_they_are_wrong(self):
        folder = pathlib.Path(self.folder.name)

        def put(authority, certificate):
            sign(self.folder.name, authority, certificate, "IP:127.0.0.1")
            for suffix in ("pem", "key"):
                shutil.copy(folder / f"{certificate}.{suffix}", folder / f"served.{suffix}")

        put("ours", "first")
        server = self.start("served")
        self.assertEqual(self.stele(server, "ours", "ls"), "")
        put("theirs", "second")
        server.process.send_signal(signal.SIGHUP)
        self.wait_for(lambda: self.stele(server, "theirs", "ls") == "")
        self.assertIn("certificate verify failed", self.stele(server, "ours", "ls"))
        (folder / "served.pem").write_text("no certificate", encoding="utf-8")
        server.process.send_signal(signal.SIGHUP)
        self.assertEqual(self.stele(server, "theirs", "ls"), "")

    def test_keeps_its_files_if_a_directory_or_a_fifo_takes_their_place(self):
        folder = pathlib.Path(self.folder.name)
        sign(self.folder.name, "ours", "kept", "IP:127.0.0.1")
        server = self.start("kept", stderr=subprocess.PIPE)
        log = iter(server.process.stderr.readline, "")
        for make, kind in ((os.mkdir, "is a directory"), (os.mkfifo, "is not a regular file")):
            for suffix in ("pem", "key"):
                path = folder / f"kept.{suffix}"
                path.rename(folder / "aside")
                make(path)
                server.process.send_signal(signal.SIGHUP)
                self.assertIn(f"kept.{suffix}: the file {kind}", next(line for line in log if "SIGHUP" in line))
                self.assertEqual(self.stele(server, "ours", "ls"), "")
                os.rmdir(path) if make is os.mkdir else path.unlink()
                (folder / "aside").rename(path)

    def test_logs_each_handshake_that_fails_and_no_other(self):
        ca = str(pathlib.Path(self.folder.name, "ours.pem"))
        server = self.start("server", "--tls-client-ca", ca, stderr=subprocess.PIPE)
        port = int(server.address.rsplit(":", 1)[1])
        log = iter(server.process.stderr.readline, "")

        def failure():
            return next(line for line in log if "a handshake failed" in line)

        with socket.create_connection(("127.0.0.1", port)):
            pass  # a probe, which sends nothing
        with socket.create_connection(("127.0.0.1", port)) as plain:
            plain.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
            self.assertRegex(failure(), r'reason="(http request|wrong version number|.*record.*)" peer=127\.0\.0\.1:\d+\n')
        self.assertIn("UNAVAILABLE", self.stele(server, "ours", "ls"))
        self.assertIn('reason="peer did not return a certificate"', failure())
        context = ssl.create_default_context(cafile=ca)
        context.load_cert_chain(pathlib.Path(self.folder.name, "server.pem"), pathlib.Path(self.folder.name, "server.key"))
        context.set_alpn_protocols(["http/1.1"])
        with self.assertRaises(ssl.SSLError), socket.create_connection(("127.0.0.1", port)) as other:
            context.wrap_socket(other, server_hostname="127.0.0.1").close()
        self.assertIn('reason="no application protocol"', failure())

    def wait_for(self, holds):
        """Until it holds; the test's own time limit ends it otherwise."""
        while not holds():
            time.sleep(0.05)

    def test_has_no_certificate_of_its_own_to_show(self):
        server = self.start("server", "--tls-client-ca", str(pathlib.Path(self.folder.name, "ours.pem")))
        self.assertIn("UNAVAILABLE", self.stele(server, "ours", "ls"))


if __name__ == "__main__":
    if shutil.which("openssl") is None:
        print("openssl: skipped, it is not installed")
        sys.exit(SKIPPED)
    sys.argv[1:] = []
    unittest.main()
