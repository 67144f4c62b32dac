"""DreamBooth in small: a diffusion model learns a new word from five images, "a sks ball", and
prior preservation keeps what it knows of "a ball".

What this is not: Stable Diffusion. Nothing is downloaded, so nothing is pre-trained. The UNet (of
diffusers) and the text encoder (a CLIP of transformers) have 0.2 million parameters, draw 16x16
pixels without an autoencoder, and are trained first, on drawn balls of six colours. The method is
DreamBooth's: both models are fine-tuned, on the five images of a purple ball together with images
that the model itself has drawn before.

    python examples/dreambooth.py

It needs diffusers, transformers and Pillow. HEADWAY_EXAMPLE_KILL=1 kills a rank once
(lose_a_rank.py).
"""

import tempfile
from pathlib import Path

import diffusers
import headway.data
import torch
import transformers
from headway import train
from headway.train.torch import TorchTrainer, load_checkpoint, prepare_model, save_checkpoint
from lose_a_rank import lose_a_rank
from PIL import Image, ImageDraw

WORDS = {"a": 0, "ball": 1, "sks": 2, "[END]": 3}
PROMPTS = {"class": "a ball", "instance": "a sks ball"}
COLOURS = ["red", "lime", "blue", "yellow", "cyan", "orange"]
NOISE = {"num_train_timesteps": 100, "beta_schedule": "squaredcos_cap_v2", "prediction_type": "v_prediction"}


def draw_balls(folder, colours):
    """Writes an image of a ball on black for each colour, never twice in the same place."""
    Path(folder).mkdir()
    for number, colour in enumerate(colours):
        image = Image.new("RGB", (16, 16))
        left, top = 2 + number % 3, 2 + number // 3 % 3
        ImageDraw.Draw(image).ellipse([left, top, left + 9, top + 9], fill=colour)
        image.save(f"{folder}/{number}.png")


class Diffusion(torch.nn.Module):
    """A text encoder and a UNet that says what the noise in an image is."""

    def __init__(self):
        super().__init__()
        words = {"vocab_size": len(WORDS), "max_position_embeddings": 4, "bos_token_id": 0, "eos_token_id": 3}
        sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2}
        self.text = transformers.CLIPTextModel(transformers.CLIPTextConfig(**words, **sizes))
        self.unet = diffusers.UNet2DConditionModel(
            sample_size=16,
            in_channels=3,
            out_channels=3,
            layers_per_block=1,
            block_out_channels=(16, 32),
            down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
            up_block_types=("UpBlock2D", "UpBlock2D"),
            norm_num_groups=4,
            attention_head_dim=8,
            cross_attention_dim=32,
        )

    def forward(self, noisy, times, prompts):
        numbers = [[WORDS[word] for word in prompt.split()] for prompt in prompts]
        padded = torch.tensor([(words + 4 * [WORDS["[END]"]])[:4] for words in numbers], device=noisy.device)
        return self.unet(noisy, times, self.text(padded).last_hidden_state).sample


@torch.no_grad()
def draw_with(model, prompt, count=16):
    """Images that the model draws, as numbers from 0 to 1: count x 3 x 16 x 16."""
    scheduler = diffusers.DDIMScheduler(**NOISE)
    scheduler.set_timesteps(15)
    images = torch.randn(count, 3, 16, 16, generator=torch.Generator().manual_seed(0))
    for time in scheduler.timesteps:
        images = scheduler.step(model(images, time, [prompt] * count), time, images).prev_sample
    return (images / 2 + 0.5).clamp(0, 1)


def purple(images):
    """The share of the images whose middle is purple."""
    red, green, blue = images[:, :, 6:9, 6:9].mean(dim=(2, 3)).unbind(dim=1)
    return ((red > 0.4) & (blue > 0.4) & (green < 0.3)).float().mean().item()


# --- The training function and what it calls: it runs in every rank. ---


def endless(name):
    """Batches of images as numbers from -1 to 1, epoch after epoch."""
    while True:
        for batch in train.get_dataset_shard(name).iter_torch_batches(batch_size=8):
            yield batch["image"].permute(0, 3, 1, 2).float() / 127.5 - 1


def train_diffusion(config):
    """Trains with all data sets that there are; each has its own prompt."""
    torch.manual_seed(train.get_context().get_world_rank())
    model = prepare_model(Diffusion())
    load_checkpoint(config["base"], model=model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["lr"])
    saved = load_checkpoint(train.get_checkpoint(), model=model, optimizer=optimizer)
    scheduler = diffusers.DDPMScheduler(**NOISE)
    batches = {name: endless(name) for name in config["data"]}
    for step in range(saved.get("step", 0) + 1, config["steps"] + 1):
        images = {name: next(batch) for name, batch in batches.items()}
        together = torch.cat([*images.values()])
        noise, times = torch.randn_like(together), torch.randint(100, (len(together),), device=together.device)
        prompts = [PROMPTS[name] for name, batch in images.items() for _ in batch]
        error = model(scheduler.add_noise(together, noise, times), times, prompts)
        error = (error - scheduler.get_velocity(together, noise, times)).square().mean(dim=(1, 2, 3))
        losses = [part.mean() for part in error.split([len(batch) for batch in images.values()])]
        optimizer.zero_grad()
        sum(losses).backward()  # Prior preservation: the class counts as much as the five images.
        optimizer.step()
        lose_a_rank(now=step == 80 and config["base"] is not None)
        if step % 50 == 0:
            metrics = {name: loss.item() for name, loss in zip(images, losses, strict=True)}
            with tempfile.TemporaryDirectory() as folder:
                checkpoint = save_checkpoint(folder, model=model, optimizer=optimizer, step=step)
                train.report({"step": step, **metrics}, checkpoint=checkpoint, reduce="mean")


# --- The driver: it runs once, here. ---


def fit(folders, **config):
    result = TorchTrainer(
        train_diffusion,
        train_loop_config={"data": list(folders), **config},
        datasets={name: headway.data.read_images(folder).random_shuffle() for name, folder in folders.items()},
        dataset_config=train.DataConfig(datasets_to_split=["class"]),  # Every rank sees all five.
        scaling_config=train.ScalingConfig(num_workers=2),
        run_config=train.RunConfig(failure_config=train.FailureConfig(max_failures=1)),
    ).fit()
    model = Diffusion().eval()
    load_checkpoint(result.checkpoint, model=model)
    return model, result.checkpoint.path


def main():
    torch.set_num_threads(1)  # For what is drawn here: the images are small.
    with tempfile.TemporaryDirectory() as folder:
        draw_balls(f"{folder}/balls", COLOURS * 36)
        model, base = fit({"class": f"{folder}/balls"}, base=None, steps=250, lr=4e-3)
        before = {prompt: purple(draw_with(model, prompt)) for prompt in PROMPTS.values()}

        draw_balls(f"{folder}/instance", ["purple"] * 5)
        Path(folder, "class").mkdir()
        for number, image in enumerate(draw_with(model, PROMPTS["class"], 48)):
            pixels = (255 * image.permute(1, 2, 0)).byte().numpy()
            Image.fromarray(pixels).save(f"{folder}/class/{number}.png")
        parts = {name: f"{folder}/{name}" for name in PROMPTS}
        model, _ = fit(parts, base=base, steps=150, lr=2e-3)
    for prompt, share in before.items():
        print(f"Purple of those drawn for {prompt!r}: {share:.2f} before, {purple(draw_with(model, prompt)):.2f} after")


if __name__ == "__main__":
    main()
