"""Reads what wandb has written offline: the records of a file ``run-*.wandb``."""

BLOCK = 32768
HEADER = 7
"""Bytes before the first record, and before each piece: checksum (4), length (2), kind (1)."""
FULL, LAST = 1, 4


def records(path):
    """The file's records, as wandb's own messages."""
    from wandb.proto import wandb_internal_pb2

    content = path.read_bytes()
    assert content[:4] == b":W&B"
    at, pieces = HEADER, b""
    while at + HEADER <= len(content):
        if BLOCK - at % BLOCK < HEADER:  # Padding.
            at += BLOCK - at % BLOCK
            continue
        length, kind = int.from_bytes(content[at + 4 : at + 6], "little"), content[at + 6]
        pieces += content[at + HEADER : at + HEADER + length]
        at += HEADER + length
        if kind in (FULL, LAST):
            record = wandb_internal_pb2.Record()
            record.ParseFromString(pieces)
            yield record
            pieces = b""
