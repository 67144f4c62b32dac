"""Handwritten digits, tuned: Optuna suggests the settings of a small network, ASHA ends the trials
that fall behind, and the end shows what that saved.

    python examples/tune_digits.py

It needs torch, optuna and scikit-learn, which ships the digits.
"""

import sys
import time

import headway
import torch
from headway import train, tune
from headway.tune.schedulers import ASHAScheduler
from headway.tune.search.optuna import OptunaSearch
from sklearn.datasets import load_digits
from torch import nn

TRIALS = 24
EPOCHS = 16
ACCURACY_WANTED = 0.96


def load_data():
    """(Images, labels) for training, and for the test."""
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    labels = torch.tensor(digits.target)
    order = torch.randperm(len(images), generator=torch.Generator().manual_seed(0))
    return [(images[part], labels[part]) for part in (order[360:], order[:360])]


def make_model(channels, dropout):
    return nn.Sequential(
        nn.Conv2d(1, channels, kernel_size=3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Dropout(dropout),
        nn.Linear(channels * 4 * 4, 10),
    )


def trial(config):
    """One configuration: a report after each epoch, from which ASHA may not return."""
    torch.manual_seed(0)
    (images, labels), (test_images, test_labels) = load_data()
    model = make_model(config["channels"], config["dropout"])
    optimizer = torch.optim.SGD(model.parameters(), config["lr"], config["momentum"])
    for _ in range(EPOCHS):
        model.train()
        for batch in torch.randperm(len(images)).split(config["batch"]):
            loss = nn.functional.cross_entropy(model(images[batch]), labels[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            accuracy = (model(test_images).argmax(dim=1) == test_labels).float().mean().item()
        tune.report({"accuracy": accuracy})


def main():
    started = time.perf_counter()
    # Imported once for all trials, which are forks.
    headway.init(preload=["torch", "sklearn.datasets"])
    grid = tune.Tuner(
        trial,
        param_space={
            "lr": tune.loguniform(1e-3, 1),
            "momentum": tune.uniform(0, 0.95),
            "batch": tune.choice([16, 32, 64, 128]),
            "channels": tune.choice([4, 8, 16]),
            "dropout": tune.uniform(0, 0.5),
        },
        tune_config=tune.TuneConfig(
            metric="accuracy",
            mode="max",
            num_samples=TRIALS,
            search_alg=OptunaSearch(seed=1),
            scheduler=ASHAScheduler(max_t=EPOCHS, grace_period=1, reduction_factor=2),
        ),
        run_config=train.RunConfig(name="tune-digits"),
    ).fit()

    epochs = [result.metrics["training_iteration"] for result in grid]
    best = grid.get_best_result()
    accuracy = best.metrics["accuracy"]
    if accuracy < ACCURACY_WANTED:
        sys.exit(f"The best test accuracy is {accuracy:.4f}; it should reach {ACCURACY_WANTED}. See {best.path}")
    saved = 1 - sum(epochs) / (TRIALS * EPOCHS)
    early = [each for each in epochs if each < EPOCHS]
    settings = ", ".join(f"{name} {value:.4g}" for name, value in best.config.items())
    print(f"""
Best test accuracy: {accuracy:.4f}, with {settings}
Early stopping: {sum(epochs)} of {TRIALS * EPOCHS} epochs were trained, {saved:.0%} were saved.
{len(early)} of {TRIALS} trials ended early, after {min(early)} to {max(early)} epochs.

A picture of the experiment: {grid.plot(f"{grid.experiment_path}/picture.svg")}
All of this took {time.perf_counter() - started:.1f} s.""")


if __name__ == "__main__":
    main()
