"""Handwritten digits: train a small network on two workers and use it, then lose a worker and see
training recover.

Run it with ``make demo``, or ``python examples/digits.py`` where headway, torch and scikit-learn
are installed. The data are the 1 797 digits of 8x8 pixels that scikit-learn ships; nothing is
downloaded.
"""

import os
import signal
import sys
import tempfile
import time
from pathlib import Path

import headway
import torch
from headway import train
from headway.train.torch import TorchTrainer, load_checkpoint, prepare_data_loader, prepare_model, save_checkpoint
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

WORKERS = 2
ACCURACY_WANTED = 0.97


def load_data():
    """The digits as (training, test) data sets of (1x8x8 image, label) pairs, the same in every
    process.
    """
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    labels = torch.tensor(digits.target)
    order = torch.randperm(len(images), generator=torch.Generator().manual_seed(0))
    test, training = order[:360], order[360:]
    return TensorDataset(images[training], labels[training]), TensorDataset(images[test], labels[test])


def make_model():
    return nn.Sequential(
        nn.Conv2d(1, 16, kernel_size=3, padding=1),
        nn.ReLU(),
        nn.Conv2d(16, 32, kernel_size=3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(32 * 4 * 4, 10),
    )


# --- The training function and what it calls: it runs in every worker. ---


def train_digits(config):
    """Trains for ``config["epochs"]`` epochs, from the run's checkpoint if it has one, with a
    report each.
    """
    torch.manual_seed(0)
    training_data, test_data = load_data()
    loader = prepare_data_loader(DataLoader(training_data, batch_size=32, shuffle=True))
    model = prepare_model(make_model())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    saved = load_checkpoint(train.get_checkpoint(), model=model, optimizer=optimizer)
    for epoch in range(saved.get("epoch", 0) + 1, config["epochs"] + 1):
        started = time.perf_counter()
        loader.set_epoch(epoch)  # Another order in each epoch.
        loss = train_one_epoch(model, optimizer, loader)
        samples_per_s = len(training_data) / (time.perf_counter() - started)
        metrics = {"epoch": epoch, "loss": loss, "accuracy": accuracy(model, test_data), "samples_per_s": samples_per_s}
        with tempfile.TemporaryDirectory() as folder:
            checkpoint = save_checkpoint(folder, model=model, optimizer=optimizer, epoch=epoch)
            train.report(metrics, checkpoint=checkpoint)
        if epoch == config.get("lose_a_worker_after_epoch"):
            lose_a_worker()


def train_one_epoch(model, optimizer, loader):
    """Returns the mean loss over this worker's share of the data."""
    model.train()
    losses = []
    for images, labels in loader:
        loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()  # Here the workers' gradients are averaged.
        optimizer.step()
        if not losses:
            note_time(f"rank_{train.get_context().get_world_rank()}_steps")
        losses.append(loss.item())
    return sum(losses) / len(losses)


@torch.no_grad()
def accuracy(model, test_data):
    model.eval()
    images, labels = test_data.tensors
    return (model(images).argmax(dim=1) == labels).float().mean().item()


def lose_a_worker():
    """Kills the last worker, once in a run, as a machine's failure would: without a chance to say
    or save anything.
    """
    context = train.get_context()
    last = context.get_world_rank() == context.get_world_size() - 1
    if last and not Path(context.get_storage().trial_fs_path, "killed").exists():
        note_time("killed")
        os.kill(os.getpid(), signal.SIGKILL)


def note_time(name):
    """Adds the time now to a file in the run's folder, for the driver to read."""
    with open(Path(train.get_context().get_storage().trial_fs_path, name), "a") as file:
        print(time.time(), file=file)


# --- The driver: it runs once, here. ---


def fit(config, **settings):
    trainer = TorchTrainer(
        train_digits,
        train_loop_config=config,
        scaling_config=train.ScalingConfig(num_workers=WORKERS),
        run_config=train.RunConfig(
            checkpoint_config=train.CheckpointConfig(num_to_keep=2, checkpoint_score_attribute="accuracy"),
            failure_config=train.FailureConfig(max_failures=1),
        ),
        **settings,
    )
    return trainer.fit()


def best_of(result):
    """The best checkpoint and its accuracy."""
    checkpoint, metrics = max(result.best_checkpoints, key=lambda kept: kept[1]["accuracy"])
    return checkpoint, metrics["accuracy"]


def show_predictions(checkpoint, count=4):
    """Draws a few test digits side by side, with the model's answers below."""
    model = make_model()
    load_checkpoint(checkpoint, model=model)
    images, labels = load_data()[1][:count]
    predictions = model(images).argmax(dim=1)
    for row in images[:, 0].unbind(dim=1):
        print("    ".join("".join(" .:*#"[round(4 * pixel)] * 2 for pixel in image) for image in row.tolist()))
    print("    ".join(f"predicted: {digit}".center(16) for digit in predictions))
    print("    ".join(f"    truth: {digit}".center(16) for digit in labels))


def recovery_s(result):
    """Seconds from the kill until the last worker had made a step again."""
    killed = times_noted(result, "killed")[0]
    steps = [times_noted(result, f"rank_{rank}_steps") for rank in range(WORKERS)]
    return max(min(time for time in times if time > killed) for times in steps) - killed


def times_noted(result, name):
    return [float(line) for line in Path(result.path, name).read_text().splitlines()]


def main():
    started = time.perf_counter()
    # Imported once for all workers, and not again when they restart.
    headway.init(preload=["sklearn.datasets"])

    print(f"Training on {WORKERS} workers:\n")
    result = fit({"epochs": 10})
    best, best_accuracy = best_of(result)
    if best_accuracy < ACCURACY_WANTED:
        sys.exit(f"The test accuracy is {best_accuracy:.4f}; it should reach {ACCURACY_WANTED}. See {result.path}")
    print(f"\nThe best checkpoint's test accuracy is {best_accuracy:.4f}. Some digits that it was not trained on:\n")
    show_predictions(best)

    epoch = load_checkpoint(best)["epoch"]
    print(
        f"\nTraining resumes from that checkpoint, of epoch {epoch}. After epoch {epoch + 3}, one worker is killed:\n"
    )
    config = {"epochs": epoch + 6, "lose_a_worker_after_epoch": epoch + 3}
    recovered = fit(config, resume_from_checkpoint=best)
    print(f"\nFrom the kill until both workers had made a step again: {recovery_s(recovered):.2f} s.")

    print(f"""
The first run's folder:  {result.path}
The second run's folder: {recovered.path}

To load the best checkpoint:
  from headway.train.torch import load_checkpoint
  load_checkpoint("{best.path}", model=model)

All of this took {time.perf_counter() - started:.1f} s.""")


if __name__ == "__main__":
    main()
