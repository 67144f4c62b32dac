"""The program ``headway-data``, and the libraries that it loads."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os

from headway import _core


def check_pyarrow() -> None:
    """The program ``headway-data`` loads the libraries of the pyarrow that it was built with.

    Raises:
        ModuleNotFoundError: pyarrow is not installed.
        ImportError: another major version is.
    """
    built = _core.pyarrow_version.partition(".")[0]
    try:
        installed = importlib.metadata.version("pyarrow")
    except importlib.metadata.PackageNotFoundError:
        raise ModuleNotFoundError(
            f"headway.data needs pyarrow: pip install 'pyarrow=={built}.*'", name="pyarrow"
        ) from None
    if installed.partition(".")[0] != built:
        raise ImportError(
            f"headway.data was built for pyarrow {built}, and {installed} is installed: "
            f"pip install 'pyarrow=={built}.*'"
        )


def path() -> str:
    """Where the program is."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return os.path.join(package, "bin", "headway-data")


def library_path() -> dict[str, str]:
    """Where the program finds Arrow. It knows the folder beside Headway's own; pyarrow may be in
    another one, that of the system for example.
    """
    spec = importlib.util.find_spec("pyarrow")
    if spec is None or spec.origin is None:
        return {}
    before = os.environ.get("LD_LIBRARY_PATH")
    return {"LD_LIBRARY_PATH": os.path.dirname(spec.origin) + (f":{before}" if before else "")}
