"""The GPT of gpt_fsdp.py, sharded with DeepSpeed's ZeRO (stage 3) in place of FSDP. It trains on
two ranks, then resumes the checkpoint on three.

    python examples/gpt_deepspeed.py

It needs torch and deepspeed. HEADWAY_EXAMPLE_KILL=1 kills a rank once (lose_a_rank.py).
"""

import tempfile

import deepspeed
import torch
from gpt_fsdp import BATCH, GPT, STEPS, batch, fit, learning_rate, write
from headway import train
from lose_a_rank import lose_a_rank

# --- The training function: it runs in every rank. ---


def train_gpt(config):
    torch.manual_seed(0)
    model = GPT()
    settings = {
        "train_micro_batch_size_per_gpu": BATCH // train.get_context().get_world_size(),
        "zero_optimization": {"stage": 3},
        "zero_allow_untested_optimizer": True,
    }
    optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate(0))
    engine, *_ = deepspeed.initialize(model=model, optimizer=optimizer, config=settings)
    first = 1
    if checkpoint := train.get_checkpoint():  # Of any number of ranks.
        with checkpoint.as_directory() as folder:
            _, saved = engine.load_checkpoint(folder)
        first = saved["step"] + 1
    for step in range(first, config["steps"] + 1):
        optimizer.param_groups[0]["lr"] = learning_rate(step - 1)
        inputs, targets = batch(step)
        loss = torch.nn.functional.cross_entropy(engine(inputs).flatten(0, 1), targets.flatten())
        engine.backward(loss)
        engine.step()
        lose_a_rank(now=step == 130)
        if step % 50 == 0:
            with tempfile.TemporaryDirectory() as folder:  # In every rank, for its own shards.
                engine.save_checkpoint(folder, client_state={"step": step})
                checkpoint = train.Checkpoint.from_directory(folder)
                train.report({"step": step, "loss": loss.item()}, checkpoint=checkpoint, reduce={"loss": "mean"})


# --- The driver: it runs once, here. ---


def main():
    first = fit(train_gpt, workers=2, steps=200)
    result = fit(train_gpt, workers=3, steps=STEPS, checkpoint=first.checkpoint)

    model = GPT()  # Whole, in this process.
    with result.checkpoint.as_directory() as folder:
        model.load_state_dict(deepspeed.utils.zero_to_fp32.get_fp32_state_dict_from_zero_checkpoint(folder))
    print(write(model, "The Zen of Python,", 78))
    print(f"Loss: {result.metrics['loss']:.3f}")


if __name__ == "__main__":
    main()
