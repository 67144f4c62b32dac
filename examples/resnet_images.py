"""Image classification with a small ResNet on image files: which shape is drawn? 600 PNG files are
generated; ``headway.data`` decodes them and deals them to two ranks.

    python examples/resnet_images.py

It needs torch and Pillow. HEADWAY_EXAMPLE_KILL=1 kills a rank once (lose_a_rank.py), in the middle
of an epoch: the run resumes there, with exactly the images that are left of the epoch.
"""

import random
import tempfile
from pathlib import Path

import headway.data
import torch
from headway import train
from headway.data import RandomSeedConfig
from headway.data.expressions import col
from headway.train.torch import TorchTrainer, load_checkpoint, prepare_model, save_checkpoint
from lose_a_rank import lose_a_rank
from PIL import Image, ImageDraw
from torch import nn
from torch.nn import functional

EPOCHS = 4
SHAPES = ["ellipse", "rectangle", "triangle"]


def draw_shapes(folder, count):
    """Writes FOLDER/shape=NUMBER/....png: each a shape of any colour on a noisy ground."""
    draw = random.Random(str(folder))
    for number in range(count):
        shape = number % len(SHAPES)
        image = Image.effect_noise((32, 32), 60).point(lambda grey: grey // 3).convert("RGB")
        left, top, side = draw.randint(2, 14), draw.randint(2, 14), draw.randint(11, 16)
        colour = tuple(draw.randint(120, 255) for _ in range(3))
        pen = ImageDraw.Draw(image)
        box = [left, top, left + side, top + side]
        if SHAPES[shape] == "triangle":
            pen.polygon([(left, top + side), (left + side, top + side), (left + side // 2, top)], fill=colour)
        else:
            getattr(pen, SHAPES[shape])(box, fill=colour)
        path = Path(folder, f"shape={shape}", f"{number}.png")
        path.parent.mkdir(parents=True, exist_ok=True)
        image.save(path)


class Block(nn.Module):
    def __init__(self, inside, out, stride):
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(inside, out, 3, stride, 1, bias=False), nn.BatchNorm2d(out), nn.ReLU())
        self.second = nn.Sequential(nn.Conv2d(out, out, 3, 1, 1, bias=False), nn.BatchNorm2d(out))
        self.shortcut = nn.Conv2d(inside, out, 1, stride, bias=False)

    def forward(self, x):
        return functional.relu(self.second(self.first(x)) + self.shortcut(x))


def make_model():
    return nn.Sequential(
        Block(3, 16, 1), Block(16, 32, 2), Block(32, 64, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 3)
    )


# --- The training function and what it calls: it runs in every rank. ---


def batches(name, size):
    for batch in train.get_dataset_shard(name).iter_torch_batches(batch_size=size):
        yield batch["image"].permute(0, 3, 1, 2).float().contiguous() / 255, batch["shape"]


def train_resnet(config):
    torch.manual_seed(0)
    model = prepare_model(make_model())
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    saved = load_checkpoint(train.get_checkpoint(), model=model, optimizer=optimizer)
    epoch, seen = saved.get("epoch", 0), saved.get("seen", 0)
    while epoch < EPOCHS:
        # After a restart these are the batches that are left of the epoch.
        for step, (images, shapes) in enumerate(batches("train", 15)):
            model.train()
            loss = functional.cross_entropy(model(images), shapes)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            seen += len(images)
            lose_a_rank(now=epoch == 1 and step == 15)
            if step % 10 == 9:
                metrics = {"epoch": epoch, "seen": seen, "loss": loss.item(), "accuracy": accuracy(model)}
                with tempfile.TemporaryDirectory() as folder:
                    checkpoint = save_checkpoint(folder, model=model, optimizer=optimizer, epoch=epoch, seen=seen)
                    train.report(metrics, checkpoint=checkpoint)  # With the position in the data.
        epoch += 1
    return seen


@torch.no_grad()
def accuracy(model):
    model.eval()
    right = [model(images).argmax(dim=1) == shapes for images, shapes in batches("test", 120)]
    return torch.cat(right).float().mean().item()


# --- The driver: it runs once, here. ---


def main():
    with tempfile.TemporaryDirectory() as folder:
        datasets = {}
        for name, count in (("train", 600), ("test", 120)):
            draw_shapes(f"{folder}/{name}", count)
            images = headway.data.read_images(f"{folder}/{name}", mode="RGB", partitioning="hive")
            datasets[name] = images.with_column("shape", col("shape").cast("int64"))
        # Another order in each epoch.
        datasets["train"] = datasets["train"].random_shuffle(seed=RandomSeedConfig(0))
        result = TorchTrainer(
            train_resnet,
            datasets=datasets,
            dataset_config=train.DataConfig(datasets_to_split=["train"]),
            scaling_config=train.ScalingConfig(num_workers=2),
            run_config=train.RunConfig(failure_config=train.FailureConfig(max_failures=1)),
        ).fit()
    print(f"Each rank has trained on {result.return_value} images, in {EPOCHS} epochs of 300.")
    print(f"Test accuracy: {result.metrics['accuracy']:.3f}")


if __name__ == "__main__":
    main()
