"""Links between a driver and its agents that can be cut and slowed down: in network namespaces, or
over loopback.

Namespaces have no names, and all interfaces are made inside of them: nothing of it can meet another
test's, and all of it goes with the last process and the last descriptor.
"""

import concurrent.futures
import contextlib
import ctypes
import errno
import os

import processes
import pyroute2

NEW_NETWORK = 0x40000000  # CLONE_NEWNET (linux/sched.h)
DELAY_S = 0.3  # Of a slow link, each way.
SLOW_RATE = 128 * 1024  # Bytes a second, where the kernel can't delay.


class Unavailable(Exception):
    """Something that this machine's kernel, or this user, can't have."""


def _in_a_thread(function):
    """What a thread changes about its network is its own, and goes to the processes that it
    starts.
    """
    with concurrent.futures.ThreadPoolExecutor(1) as executor:
        return executor.submit(function).result()


def _system(name, *arguments):
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


class Namespace:
    """A separate network: interfaces, addresses, ports."""

    def __init__(self):
        self.descriptor = _in_a_thread(self._make)
        self.identity = os.fstat(self.descriptor).st_ino

    @staticmethod
    def _make():
        _system("unshare", NEW_NETWORK)
        return os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)

    def inside(self, function):
        """Runs it there, with the processes that it starts; returns what it returns."""

        def enter():
            _system("setns", self.descriptor, NEW_NETWORK)
            return function()

        return _in_a_thread(enter)

    def configure(self, function):
        """Runs ``function(routes)`` there, which changes the network."""

        def change():
            with pyroute2.IPRoute() as routes:
                return function(routes)

        return self.inside(change)

    def processes(self):
        """Those that are in it: pid → command line."""
        found = {}
        for name in os.listdir("/proc"):
            with contextlib.suppress(OSError):
                if name.isdigit() and os.stat(f"/proc/{name}/ns/net").st_ino == self.identity:
                    found[int(name)] = processes.command_line(int(name))
        return found

    def close(self):
        os.close(self.descriptor)


class Cable:
    """From an agent's namespace to the bridge."""

    def __init__(self, hub, number, stack):
        self.hub = hub
        self.port = f"port{number}"
        self.end = stack.enter_context(contextlib.closing(Namespace()))
        address = f"10.77.0.{number + 1}"

        def plug_in(routes):
            peer = {"ifname": "cable", "net_ns_fd": self.end.descriptor}
            routes.link("add", ifname=self.port, kind="veth", peer=peer)
            routes.link("set", index=_index(routes, self.port), master=_index(routes, "bridge"), state="up")

        def set_up(routes):
            routes.link("set", index=_index(routes, "lo"), state="up")
            routes.addr("add", index=_index(routes, "cable"), address=address, prefixlen=24)
            routes.link("set", index=_index(routes, "cable"), state="up")

        hub.configure(plug_in)
        self.end.configure(set_up)

    def agent(self, nodes, *options):
        return self.end.inside(lambda: nodes.agent(*options))

    def cut(self):
        self.hub.configure(lambda routes: routes.link("set", index=_index(routes, self.port), state="down"))

    def mend(self):
        self.hub.configure(lambda routes: routes.link("set", index=_index(routes, self.port), state="up"))

    def slow_down(self):
        """Packets take DELAY_S longer each way; where the kernel can't do that, few bytes go in a
        second.
        """
        for namespace, name in ((self.hub, self.port), (self.end, "cable")):
            namespace.configure(lambda routes, name=name: _slow_down(routes, _index(routes, name)))


class Lab:
    """A driver's namespace with a bridge, and one for each agent with a cable to it."""

    host = "10.77.0.1"

    def __init__(self, stack):
        self.stack = stack
        self.cables = []
        try:
            self.hub = stack.enter_context(contextlib.closing(Namespace()))
            self.hub.configure(self._set_up)
            self.cable()
        except (OSError, pyroute2.NetlinkError) as error:
            raise Unavailable(f"network namespaces can't be made here: {error}") from error

    def _set_up(self, routes):
        routes.link("set", index=_index(routes, "lo"), state="up")
        routes.link("add", ifname="bridge", kind="bridge")
        routes.addr("add", index=_index(routes, "bridge"), address=self.host, prefixlen=24)
        routes.link("set", index=_index(routes, "bridge"), state="up")

    def cable(self):
        self.cables.append(Cable(self.hub, len(self.cables) + 1, self.stack))
        return self.cables[-1]

    def links(self, nodes, count):
        while len(self.cables) < count:
            self.cable()
        return self.cables

    def start(self, nodes, code, lease_s):
        self.hub.inside(lambda: nodes.start(code, lease_s, self.host))

    def left(self):
        """Waits until no process is in any of its namespaces; those that are."""

        def find():
            everywhere = [self.hub, *(cable.end for cable in self.cables)]
            return {pid: line for namespace in everywhere for pid, line in namespace.processes().items()}

        return processes.wait_gone(find, 10)


class ProxyLink:
    """The same over loopback: what goes between an agent and the driver goes through a proxy."""

    def __init__(self, proxy):
        self.proxy = proxy
        self.cut = proxy.cut
        self.mend = proxy.mend

    def agent(self, nodes, *options):
        return nodes.agent(*options, address=self.proxy.address)

    def slow_down(self):
        self.proxy.delay_s = DELAY_S


class Loopback:
    """In place of a lab, where namespaces can't be made."""

    host = "127.0.0.1"

    def links(self, nodes, count):
        return [ProxyLink(nodes.proxy()) for _ in range(count)]

    def start(self, nodes, code, lease_s):
        nodes.start(code, lease_s, self.host)

    def left(self):
        return {}


def _index(routes, name):
    return routes.link_lookup(ifname=name)[0]


def _slow_down(routes, index):
    try:
        routes.tc("add", "netem", index, delay=int(DELAY_S * 1_000_000))
        return
    except pyroute2.NetlinkError as error:
        if error.code != errno.ENOENT:
            raise
    try:
        routes.tc("add", "tbf", index, rate=SLOW_RATE, burst=4096, latency="200ms")
    except pyroute2.NetlinkError as error:
        raise Unavailable(f"the kernel has neither netem nor tbf: {error}") from error
