"""A training with Horovod: as a script by Horovod alone (horovod_program.py FILE), which starts two
processes, and as a training function of Headway's.
"""

import json
import os
import signal
import sys
import tempfile

import torch

STEPS = 12
ROWS = 48  # Of all ranks.


def losses(start_step=0, state=None, steps=STEPS, each=None):
    """Trains on this rank's share; the mean loss over all ranks in each step."""
    import horovod.torch as hvd

    if not hvd.is_initialized():
        hvd.init()
    torch.set_num_threads(1)
    torch.manual_seed(hvd.rank())  # Rank 0's weights are sent to the others.
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)
    distributed = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    if state is not None:
        model.load_state_dict(state["model"])
        distributed.load_state_dict(state["optimizer"])
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    hvd.broadcast_optimizer_state(distributed, root_rank=0)
    generator = torch.Generator().manual_seed(0)
    features = torch.randn(ROWS, 4, generator=generator)[hvd.rank() :: hvd.size()]
    found = []
    for step in range(start_step, steps):
        distributed.zero_grad()
        loss = ((model(features).squeeze(1) - features.sum(dim=1)) ** 2).mean()
        loss.backward()
        distributed.step()
        found.append(float(hvd.allreduce(loss.detach(), name="loss")))
        if each is not None:
            each(step + 1, found[-1], {"model": model.state_dict(), "optimizer": distributed.state_dict()})
    return found


def loop(config):
    """Returns the ranks that Horovod knows, and the steps of the last attempt."""
    import horovod.torch as hvd
    from headway import train

    state, done, checkpoint = None, 0, train.get_checkpoint()
    if checkpoint is not None:
        with checkpoint.as_directory() as folder:
            state = torch.load(os.path.join(folder, "state.pt"))
            done = state["step"]
    hvd.init()

    def each(step, loss, state):
        if config.get("kill") == step - 1 and done == 0 and hvd.rank() == config["rank"]:
            os.kill(os.getpid(), signal.SIGKILL)
        if step % 4 or hvd.rank() != 0:
            train.report({"loss": loss, "step": step})
            return
        with tempfile.TemporaryDirectory() as folder:
            torch.save({**state, "step": step}, os.path.join(folder, "state.pt"))
            train.report({"loss": loss, "step": step}, train.Checkpoint.from_directory(folder))

    steps = config.get("steps", STEPS)
    losses(done, state, steps, each)
    return hvd.size(), hvd.cross_size(), steps - done


if __name__ == "__main__":
    import horovod

    of_ranks = horovod.run(losses, np=2, use_gloo=True, network_interfaces=["lo"])
    assert of_ranks[0] == of_ranks[1], "the mean over all ranks is the same in each"
    with open(sys.argv[1], "w") as file:
        json.dump(of_ranks[0], file)
