"""What clusters of servers that tests start on this machine have in common."""

import threading
import time


class EngineCluster:
    """A cluster has ``_start()``, and an ``__exit__`` that ends also what has half begun."""

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def wait(self, condition, what, limit_s=60):
        """Until a condition holds."""
        deadline = time.monotonic() + limit_s
        while not condition():
            assert time.monotonic() < deadline, f"there are no {what} after {limit_s} s{self._shown()}"
            self._check_servers()
            # There is nothing to wait for: servers answer, and tell nobody.
            threading.Event().wait(0.05)

    def _shown(self):
        """What there is, for a failure."""
        return ""

    def _check_servers(self):
        """Fails where one has ended by itself."""
