"""A GPT of characters that learns the Zen of Python by heart, sharded with FSDP 2 of torch: each
rank holds its share of the parameters, gradients and optimizer state. It trains on two ranks, then
resumes the checkpoint on three.

    python examples/gpt_fsdp.py

It needs torch. HEADWAY_EXAMPLE_KILL=1 kills a rank once (lose_a_rank.py).
"""

import codecs
import contextlib
import io
import tempfile

import torch
from headway import train
from headway.train.torch import TorchTrainer, get_device, load_checkpoint, save_checkpoint
from lose_a_rank import lose_a_rank
from torch import nn
from torch.distributed.fsdp import fully_shard

BATCH = 24  # Pieces of text in a step of all ranks: as many for any number of ranks.
CONTEXT = 48  # Characters.
STEPS = 300


def read_text():
    """The Zen of Python, which every Python has."""
    with contextlib.redirect_stdout(io.StringIO()):
        import this
    return codecs.decode(this.s, "rot13")


TEXT = read_text()
CHARACTERS = sorted(set(TEXT))


def encode(text):
    return torch.tensor([CHARACTERS.index(character) for character in text])


class GPT(nn.Module):
    def __init__(self, size=64, layers=2):
        super().__init__()
        self.characters = nn.Embedding(len(CHARACTERS), size)
        self.positions = nn.Embedding(CONTEXT, size)
        kind = {"dropout": 0, "activation": "gelu", "batch_first": True, "norm_first": True}
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(size, 4, 4 * size, **kind) for _ in range(layers))
        self.out = nn.Sequential(nn.LayerNorm(size), nn.Linear(size, len(CHARACTERS)))

    def forward(self, numbers):
        length = numbers.shape[1]
        x = self.characters(numbers) + self.positions(torch.arange(length, device=numbers.device))
        mask = nn.Transformer.generate_square_subsequent_mask(length, device=numbers.device)
        for layer in self.layers:
            x = layer(x, src_mask=mask, is_causal=True)
        return self.out(x).clone()  # FSDP warns of an output that is a view.


def batch(step):
    """This rank's pieces of the text in a step, and the characters that follow."""
    context = train.get_context()
    text, draw = encode(TEXT), torch.Generator().manual_seed(step)
    starts = torch.randint(len(TEXT) - CONTEXT, (BATCH,), generator=draw)
    mine = starts[context.get_world_rank() :: context.get_world_size()]
    pieces = torch.stack([text[start : start + CONTEXT + 1] for start in mine]).to(get_device())
    return pieces[:, :-1], pieces[:, 1:]


def learning_rate(step):
    """A third of the steps at the full rate, then down to none."""
    return 6e-3 * min(1, 1.5 * (1 - step / STEPS))


@torch.no_grad()
def write(model, text, count):
    """The text with the characters that the model finds most likely."""
    for _ in range(count):
        text += CHARACTERS[model(encode(text[-CONTEXT:])[None])[0, -1].argmax()]
    return text


# --- The training function: it runs in every rank. ---


def train_gpt(config):
    torch.manual_seed(0)  # The same first parameters in every rank.
    model = GPT().to(get_device())
    for module in [*model.layers, model]:  # The layers first, then the rest.
        fully_shard(module)
    optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate(0))
    # The checkpoint is of any number of ranks.
    saved = load_checkpoint(train.get_checkpoint(), model=model, optimizer=optimizer)
    for step in range(saved.get("step", 0) + 1, config["steps"] + 1):
        optimizer.param_groups[0]["lr"] = learning_rate(step - 1)
        inputs, targets = batch(step)
        loss = nn.functional.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        lose_a_rank(now=step == 130)
        if step % 50 == 0:
            with tempfile.TemporaryDirectory() as folder:
                checkpoint = save_checkpoint(folder, model=model, optimizer=optimizer, step=step)
                train.report({"step": step, "loss": loss.item()}, checkpoint=checkpoint, reduce={"loss": "mean"})


# --- The driver: it runs once, here. ---


def fit(loop, workers, steps, checkpoint=None):
    return TorchTrainer(
        loop,
        train_loop_config={"steps": steps},
        scaling_config=train.ScalingConfig(num_workers=workers),
        run_config=train.RunConfig(failure_config=train.FailureConfig(max_failures=1)),
        resume_from_checkpoint=checkpoint,
    ).fit()


def main():
    first = fit(train_gpt, workers=2, steps=200)
    result = fit(train_gpt, workers=3, steps=STEPS, checkpoint=first.checkpoint)

    model = GPT()  # Whole, in this process.
    load_checkpoint(result.checkpoint, model=model)
    print(write(model, "The Zen of Python,", 78))
    print(f"Loss: {result.metrics['loss']:.3f}")


if __name__ == "__main__":
    main()
