"""Addresses and interfaces of ranks, and ports that ranks hold until a framework listens there.

Frameworks want to know the port of each rank before any rank listens. There are three ways without
a race: hand over the listening socket (torch), share the port with the one who will listen
(:func:`hold_shared`), or close the held port right before (:func:`hold_outside_of_the_systems`).
"""

from __future__ import annotations

import fcntl
import random
import socket
import struct

from headway import _session as worker_session

# Below the ports that the system gives to connections (net.ipv4.ip_local_port_range).
_PORTS = range(20000, 32768)
_ATTEMPTS = 1000


def own_host(caller: str) -> str:
    """The IP address at which the run's other ranks reach this one.

    Args:
        caller: Who asks, for the error outside of a training function.
    """
    context = worker_session.current(caller).context
    plan = context["plan"]
    return "127.0.0.1" if plan["local_world_size"] == context["world_size"] else plan["slot"]["node_ip"]


def interface_of(ip: str) -> str:
    """The name of the network interface with this address, such as ``"eth0"``; ``"lo"`` when there
    is none.
    """
    get_address = 0x8915  # SIOCGIFADDR (linux/sockios.h)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for _, name in socket.if_nameindex():
            request = struct.pack("256s", name.encode()[:15])
            try:
                answer = fcntl.ioctl(any_socket.fileno(), get_address, request)
            except OSError:
                continue  # It has no address.
            if socket.inet_ntoa(answer[20:24]) == ip:
                return name
    return "lo"


def hold_shared() -> socket.socket:
    """A socket at a free port of the system's choice. It does not listen, and whoever binds the
    same port with SO_REUSEPORT may: it need not be closed before.
    """
    held = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    held.bind(("", 0))
    return held


def hold_outside_of_the_systems() -> socket.socket:
    """A socket at a free port that the system gives to no connection, so that the port is still
    free a moment after the socket has been closed.

    Raises:
        OSError: no port is free.
    """
    for _ in range(_ATTEMPTS):
        held = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            held.bind(("", random.choice(_PORTS)))
        except OSError:
            held.close()
            continue
        return held
    raise OSError(f"no port of {_PORTS.start} to {_PORTS.stop - 1} is free")
