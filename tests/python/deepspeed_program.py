"""A training with DeepSpeed: as a script by DeepSpeed alone (deepspeed_program.py STAGE FILE),
whose two ranks are forked, and as a training function of Headway's.
"""

import json
import os
import signal
import sys
import tempfile

import deepspeed
import torch
from headway import train

STEPS = 12
ROWS = 48  # Of all ranks.


def config_of(stage, ranks, bf16=False):
    return {
        "train_micro_batch_size_per_gpu": ROWS // ranks,
        "zero_optimization": {"stage": stage},
        "zero_allow_untested_optimizer": True,
        "bf16": {"enabled": bf16},
    }


def engine_of(stage, ranks, bf16=False):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
    engine, *_ = deepspeed.initialize(model=model, optimizer=optimizer, config=config_of(stage, ranks, bf16))
    return engine


def share(rank, ranks):
    """A rank's rows."""
    inputs = torch.randn(ROWS, 4, generator=torch.Generator().manual_seed(1))
    return inputs[rank::ranks], inputs.sum(dim=1, keepdim=True)[rank::ranks]


def step(engine, inputs, targets):
    """The loss over the rows of all ranks."""
    outputs = engine(inputs.bfloat16() if engine.bfloat16_enabled() else inputs)
    loss = torch.nn.functional.mse_loss(outputs.float(), targets)
    engine.backward(loss)
    engine.step()
    mean = loss.detach().clone()
    torch.distributed.all_reduce(mean)
    return mean.item() / torch.distributed.get_world_size()


def loop(config):
    """Returns the ranks, and the steps of the last attempt."""
    rank, ranks = train.get_context().get_world_rank(), train.get_context().get_world_size()
    engine = engine_of(config["stage"], ranks, config.get("bf16", False))
    done, checkpoint = 0, train.get_checkpoint()
    if checkpoint is not None:
        with checkpoint.as_directory() as folder:
            _, state = engine.load_checkpoint(folder)
        done = state["step"]
    rows = share(rank, ranks)
    for number in range(done, config.get("steps", STEPS)):
        if config.get("kill") == number and done == 0 and rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        report(engine, number + 1, step(engine, *rows))
    return ranks, config.get("steps", STEPS) - done


def report(engine, number, loss):
    """With a checkpoint every four steps, to which each rank adds its shards."""
    if number % 4:
        train.report({"loss": loss, "step": number})
        return
    with tempfile.TemporaryDirectory() as folder:
        engine.save_checkpoint(folder, client_state={"step": number})
        train.report({"loss": loss, "step": number}, train.Checkpoint.from_directory(folder))


def alone(stage, path):
    """What two ranks train that meet without Headway, and without shared memory."""
    store = torch.distributed.TCPStore("127.0.0.1", 0, 2, is_master=True, wait_for_workers=False)
    children = []
    for rank in range(2):
        child = os.fork()
        if child == 0:
            torch.set_num_threads(1)
            os.environ.update(LOCAL_SIZE="2", LOCAL_RANK=str(rank), RANK=str(rank), WORLD_SIZE="2")
            mine = store if rank == 0 else torch.distributed.TCPStore("127.0.0.1", store.port, 2, is_master=False)
            torch.distributed.init_process_group("gloo", store=mine, rank=rank, world_size=2)
            deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False
            losses = {}
            for name, bf16 in (("fp32", False), ("bf16", True)):
                engine = engine_of(stage, 2, bf16)
                losses[name] = [step(engine, *share(rank, 2)) for _ in range(STEPS)]
            if rank == 0:
                with open(path, "w") as file:
                    json.dump(losses, file)
            torch.distributed.barrier()
            os._exit(0)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0]


if __name__ == "__main__":
    alone(int(sys.argv[1]), sys.argv[2])
