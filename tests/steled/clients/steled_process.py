"""A steled as a child process, for tests with clients of others."""
import subprocess


class Steled:
    """One on a port of its own."""

    def __init__(self, program, database, *flags, stderr=None):
        command = [program, "--db", database, "--listen", "127.0.0.1:0", *flags]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True)
        line = self.process.stdout.readline()
        assert line.startswith("listening on 127.0.0.1:"), line
        self.address = line.split()[-1]

    def end(self, with_signal):
        """Its exit code."""
        self.process.send_signal(with_signal)
        self.process.stdout.close()
        return self.process.wait()
