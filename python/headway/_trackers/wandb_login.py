"""Whether Weights & Biases will find a login, without its library, whose import takes seconds."""

from __future__ import annotations

import configparser
import netrc
import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

KEY = "WANDB_API_KEY"
_TOKEN = "WANDB_IDENTITY_TOKEN_FILE"
#: W&B's own server. Which of its names is the default differs between versions; a login for one
#: serves for all.
_OWN_HOST = "https://api.wandb.ai"
_OWN_NAMES = ("api.wandb.ai", "forge.coreweave.com", "api.forge.coreweave.com")
#: Modes that need none.
WITHOUT_LOGIN = ("offline", "disabled", "dryrun")


def missing_login(arguments: Mapping[str, Any]) -> str | None:
    """The server for which there is no login; None where there is one, or none is needed. Where it
    is not clear, W&B decides later.

    Args:
        arguments: Of ``wandb.init``.
    """
    stored = _stored_settings()
    given = arguments.get("settings")
    if given is not None and not isinstance(given, Mapping):
        given = {name: getattr(given, name, None) for name in ("mode", "base_url", "api_key")}
    given = given or {}
    mode = arguments.get("mode") or given.get("mode") or os.environ.get("WANDB_MODE") or stored.get("mode")
    if mode in WITHOUT_LOGIN or stored.get("disabled") == "true":
        return None
    if given.get("api_key") or stored.get("api_key") or os.environ.get(KEY) or os.environ.get(_TOKEN):
        return None
    host = given.get("base_url") or os.environ.get("WANDB_BASE_URL") or stored.get("base_url") or _OWN_HOST
    machine = urlsplit(str(host)).netloc
    machines = _OWN_NAMES if machine in _OWN_NAMES else (machine,)
    return None if any(_is_in_netrc(each) for each in machines) else str(host)


def words(host: str) -> str:
    """That the login is missing, and what to do about it."""
    return f"there is no login for {host}: set {KEY}, run `wandb login`, or set WANDB_MODE=offline to log into files"


def _is_in_netrc(machine: str) -> bool:
    standard = os.path.expanduser("~/.netrc")
    other = os.path.expanduser("~/_netrc")
    path = os.environ.get("NETRC") or (standard if os.path.exists(standard) else other)
    try:
        found = netrc.netrc(os.path.expanduser(path)).authenticators(machine)
    except FileNotFoundError:
        return False
    except (netrc.NetrcParseError, OSError, UnicodeError):
        return True
    return found is not None and bool(found[2])


def _stored_settings() -> dict[str, str]:
    """What ``wandb offline`` and ``wandb login`` have stored; that of this directory wins."""
    folder = os.environ.get("WANDB_CONFIG_DIR") or "~/.config/wandb"
    here = os.path.join(os.environ.get("WANDB_DIR") or ".", "wandb")
    stored: dict[str, str] = {}
    for path in (os.path.expanduser(folder), here):
        parser = configparser.ConfigParser(interpolation=None)
        try:
            parser.read(os.path.join(path, "settings"))
            stored |= dict(parser.items("default")) if parser.has_section("default") else {}
        except (configparser.Error, OSError, UnicodeError):
            continue
    return stored
