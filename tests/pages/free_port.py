"""Finds ports for servers that must know their port before they start."""
import random
import socket


def first_of_connections():
    """The first port that the system gives to connections, and to servers without a port."""
    try:
        with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as ports:
            return int(ports.read().split()[0])
    except OSError:
        return 32768


def free_port():
    """A port that no process uses. It is below the ports of connections, so that no connection of another program takes it
    before the server does, or while the server is down.
    """
    after = first_of_connections()
    ports = list(range(max(1024, after - 16384), after)) or [0]
    random.shuffle(ports)
    for port in ports:
        with socket.socket() as listener:
            try:
                listener.bind(("127.0.0.1", port))
            except OSError:
                continue
            return listener.getsockname()[1]
    raise OSError("all ports are in use")
