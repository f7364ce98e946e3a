#!/usr/bin/env python3
"""java_test.py STELED SOURCE_FOLDER FOLDER: a client of gRPC's Java library (tests/steled/clients/java) against the built server.

protoc and grpc_java_plugin make its stubs from src/remote/wire in FOLDER, and javac compiles them with the client.

Without a JDK, libgrpc-java, libprotobuf-java, libnetty-java, libperfmark-java, protoc and grpc_java_plugin (protobuf-compiler-grpc-java-plugin) nothing is
tested: that is said, and the exit code is 77 (skipped).
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

from steled_process import Steled

SKIPPED = 77
CLIENT_SECONDS_MAX = 120  # it takes three; a client that lacks a class waits without end
JARS = pathlib.Path("/usr/share/java")
NEEDED = ("grpc-api", "grpc-context", "grpc-core", "grpc-netty", "grpc-protobuf", "grpc-protobuf-lite", "grpc-stub", "guava", "netty-all",
          "perfmark-api", "protobuf")
# What they load where it is there: annotations, and parts that some versions keep in jars of their own.
WANTED = ("annotations-api", "failureaccess", "gson", "opencensus-api", "geronimo-annotation-1.3-spec")


def skip(reason):
    print(f"java: skipped, {reason}")
    sys.exit(SKIPPED)


def class_path():
    missing = [name for name in NEEDED if not (JARS / f"{name}.jar").exists()]
    if missing:
        skip(f"{JARS} has no {missing[0]}.jar")
    found = [JARS / f"{name}.jar" for name in NEEDED + WANTED]
    netty = sorted(JARS.glob("netty-*.jar"))
    return ":".join(str(jar) for jar in [*found, *netty] if jar.exists())


def compile_client(sources, folder, jars):
    """The folder of the classes."""
    protos = sorted(str(path.relative_to(sources)) for path in pathlib.Path(sources, "remote/wire").glob("*.proto"))
    generated, classes = folder / "generated", folder / "classes"
    for path in (generated, classes):
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
    plugin = shutil.which("grpc_java_plugin")
    subprocess.run(["protoc", f"-I{sources}", f"--java_out={generated}", f"--grpc_out={generated}", f"--plugin=protoc-gen-grpc={plugin}",
                    *protos], check=True)
    client = pathlib.Path(__file__).resolve().parent / "java" / "SteledClient.java"
    files = [str(client), *(str(path) for path in generated.rglob("*.java"))]
    subprocess.run(["javac", "-nowarn", "-proc:none", "-cp", jars, "-d", str(classes), *files], check=True)
    return classes


def main():
    program, sources, folder = sys.argv[1:4]
    for tool in ("java", "javac", "protoc", "grpc_java_plugin"):
        if shutil.which(tool) is None:
            skip(f"{tool} is not installed")
    jars = class_path()
    classes = compile_client(sources, pathlib.Path(folder), jars)
    with tempfile.TemporaryDirectory(prefix="steled-java-") as database:
        server = Steled(program, os.path.join(database, "db"), "--durability=process")
        try:
            done = subprocess.run(["java", "-cp", f"{classes}:{jars}", "SteledClient", server.address], timeout=CLIENT_SECONDS_MAX, check=False)
        finally:
            ended = server.end(signal.SIGTERM)
    if done.returncode != 0 or ended != 0:
        sys.exit(f"java: the client ended with {done.returncode}, steled with {ended}")


if __name__ == "__main__":
    main()
