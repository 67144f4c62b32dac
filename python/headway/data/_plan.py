"""A plan: what a data set is made of, as a list of nodes that the data engine reads as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: Under which argument a node names its function, where it is not ``blob``.
_BLOB = {"python_source": "function"}

#: Nodes behind which only rows show the columns, and nodes that name columns.
_UNKNOWN = ("function", "python_source")
_NAMING = ("project", "drop", "filter", "whole")


@dataclass(frozen=True)
class Plan:
    """An immutable list of nodes; the last one is the result.

    Attributes:
        nodes: Each a dict with ``op``, ``inputs`` (indices of earlier nodes) and ``args``.
        blobs: Pickled functions; nodes name them by their numbers.
        held: Files that the plan reads and that last as long as somebody holds them.
    """

    nodes: tuple[dict[str, Any], ...]
    blobs: tuple[bytes, ...] = ()
    held: tuple[Any, ...] = ()

    @classmethod
    def source(cls, op: str, args: Mapping[str, Any], *, blob: bytes | None = None, held: Sequence[Any] = ()) -> Plan:
        """A plan of one node that reads.

        Args:
            op: The node's kind.
            args: Its arguments, which JSON has.
            blob: A pickled function; the argument ``blob`` gets its number.
            held: What the node reads, as long as the plan is there.
        """
        return cls((), (), tuple(held))._with(op, (), args, blob)

    def then(self, op: str, args: Mapping[str, Any], *, blob: bytes | None = None) -> Plan:
        """This plan and one node that reads its result."""
        return self._with(op, (len(self.nodes) - 1,), args, blob)

    def combined(self, others: Sequence[Plan], op: str, args: Mapping[str, Any]) -> Plan:
        """This plan, others beside it, and one node that reads the results of all."""
        nodes, blobs, held = list(self.nodes), list(self.blobs), list(self.held)
        results = [len(nodes) - 1]
        for other in others:
            numbers = [_number(blobs, blob) for blob in other.blobs]
            first = len(nodes)
            nodes += [_moved(node, first, numbers) for node in other.nodes]
            results.append(len(nodes) - 1)
            held += [each for each in other.held if each not in held]
        return Plan(tuple(nodes), tuple(blobs), tuple(held))._with(op, tuple(results), args, None)

    def _with(self, op: str, inputs: tuple[int, ...], args: Mapping[str, Any], blob: bytes | None) -> Plan:
        blobs = list(self.blobs)
        given = dict(args)
        if blob is not None:
            given[_BLOB.get(op, "blob")] = _number(blobs, blob)
        node = {"op": op, "inputs": list(inputs), "args": given}
        return Plan((*self.nodes, node), tuple(blobs), self.held)

    def json(self) -> list[dict[str, Any]]:
        """The nodes as the engine reads them."""
        return [dict(node) for node in self.nodes]

    def text(self) -> str:
        """The canonical text: equal plans have equal ones."""
        return json.dumps(self.json(), sort_keys=True, separators=(",", ":"))

    def uses(self, *ops: str) -> bool:
        """Whether a node is one of these."""
        return any(node["op"] in ops for node in self.nodes)

    def names_known_columns(self) -> bool:
        """Whether a node names columns that a source shows, with no function in between."""
        known: list[bool] = []
        names = False
        for node in self.nodes:
            op, args = node["op"], node["args"]
            reads = op == "range" or (op == "read" and args.get("blob") is None)
            known.append(reads or (op not in _UNKNOWN and any(known[each] for each in node["inputs"])))
            is_asked = op in _NAMING or (op == "read" and args["options"].get("columns") is not None)
            names = names or (is_asked and (reads or any(known[each] for each in node["inputs"])))
        return names


def _number(blobs: list[bytes], blob: bytes) -> int:
    """The number of a blob among others, to which it is added when it is new."""
    if blob not in blobs:
        blobs.append(blob)
    return blobs.index(blob)


def _moved(node: dict[str, Any], first: int, blobs: Sequence[int]) -> dict[str, Any]:
    """A node of another plan, behind ``first`` others."""
    args = dict(node["args"])
    name = _BLOB.get(node["op"], "blob")
    if args.get(name) is not None:
        args[name] = blobs[args[name]]
    return {**node, "inputs": [each + first for each in node["inputs"]], "args": args}
