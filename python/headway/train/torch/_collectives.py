"""Where this rank stands in its process groups' collectives, read from torch's own flight recorder.

torch keeps the last 2000 collectives of Gloo and NCCL groups, whether anybody reads them or not. So
the training pays nothing for the hang watch: the record is read when the driver asks, which it does
when nobody has reported for long.
"""

from __future__ import annotations

import json
import time
from typing import Any

_OPEN_MAX = 4  # Of one group; the oldest is what matters.


def can_be_read() -> bool:
    """Whether this torch has a flight recorder for Gloo."""
    import torch.distributed

    return torch.distributed.is_available() and hasattr(torch._C._distributed_c10d, "_dump_fr_trace_json")


def positions() -> str:
    """A JSON list with an entry a process group: name, world ranks, the last collective entered,
    those still open.
    """
    from torch.distributed import distributed_c10d

    world = distributed_c10d._world
    entries = _entries()
    now_ns = time.time_ns()
    found = []
    for group in list(world.pg_map):
        name = world.pg_names[group]
        own = [entry for entry in entries if entry["process_group"][0] == name and not entry["is_p2p"]]
        open_entries = [entry for entry in own if not entry["retired"] and entry["state"] != "completed"]
        found.append(
            {
                "group": name if name != "0" else "world",
                "ranks": sorted(world.pg_group_ranks[group]),
                "sequence": max([group._get_sequence_number_for_group(), *(e["collective_seq_id"] for e in own[-1:])]),
                "open": [
                    {
                        "sequence": entry["collective_seq_id"],
                        "operation": _operation(entry),
                        "age_s": max(0, now_ns - entry["time_created_ns"]) / 1e9,
                    }
                    for entry in open_entries[:_OPEN_MAX]
                ],
            }
        )
    return json.dumps(found)


def _entries() -> list[dict[str, Any]]:
    from torch._C import _distributed_c10d

    entries: list[dict[str, Any]] = []
    for name in ("_dump_fr_trace_json", "_dump_nccl_trace_json"):
        dump = getattr(_distributed_c10d, name, None)
        if dump is not None:
            entries += json.loads(dump(True, False) or "{}").get("entries", [])
    return entries


def _operation(entry: dict[str, Any]) -> str:
    """``gloo:all_reduce [1024, 4] Float``."""
    parts = [entry["profiling_name"]]
    if entry["input_sizes"]:
        parts.append(str(entry["input_sizes"][0]))
    if entry["input_dtypes"]:
        parts.append(entry["input_dtypes"][0])
    return " ".join(parts)
