"""Training with the Trainer of Transformers: a small BERT; see ``frameworks.py``."""

from __future__ import annotations

import os

import torch
from frameworks import ALONE, OnStep, Place, integration
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    Trainer,
    TrainerCallback,
    TrainingArguments,
    set_seed,
)

glue = integration("huggingface.transformers")


class Steps(TrainerCallback):
    def __init__(self, on_step):
        self.on_step = on_step

    def on_step_end(self, *_, **__):
        self.on_step()


def train(library: str, place: Place, steps: int, on_step: OnStep) -> None:
    torch.set_num_threads(1)
    set_seed(0)
    batch, words = 8, 32
    tokens = torch.randint(1, 1000, (steps * batch * place.ranks, words))
    rows = [{"input_ids": row, "labels": int(row[0]) % 2} for row in tokens]
    sizes = {"hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 512}
    config = BertConfig(vocab_size=1000, **sizes)
    trainer = Trainer(
        BertForSequenceClassification(config),
        TrainingArguments(
            output_dir=os.path.join(os.environ["BENCH_FOLDER"], "output"),
            num_train_epochs=1,
            per_device_train_batch_size=batch,
            save_strategy="no",
            logging_strategy="no",
            report_to=[],
            disable_tqdm=True,
            use_cpu=True,
            seed=0,
        ),
        train_dataset=rows,
        callbacks=[Steps(on_step)],
    )
    if library != ALONE:
        trainer = glue.prepare_trainer(trainer)
    trainer.train()
