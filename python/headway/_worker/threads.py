"""How many threads a worker's numeric libraries use.

The factory imports them with one thread each, and their numbers stay frozen in its children unless
they are set again.
"""

from __future__ import annotations

import os
import sys

_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")

# Variables that are set for this worker alone, and are not what its driver's environment says.
own_variables: set[str] = set()


def set_threads(cpus: int, driver_env: dict[str, str]) -> int:
    """Sets torch's, OpenMP's and BLAS's threads; what the driver's environment says goes before
    ``cpus``.

    Returns:
        The number of threads.
    """
    asked = driver_env.get("OMP_NUM_THREADS", "").split(",")[0]
    threads = int(asked) if asked.isdigit() and int(asked) > 0 else max(1, cpus)
    for variable in _VARIABLES:
        if variable not in driver_env:
            os.environ.pop(variable, None)
    if "OMP_NUM_THREADS" not in os.environ:
        os.environ["OMP_NUM_THREADS"] = str(threads)
        own_variables.add("OMP_NUM_THREADS")
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(threads)
    if "numpy" in sys.modules:
        import threadpoolctl

        threadpoolctl.threadpool_limits(threads)
    return threads
