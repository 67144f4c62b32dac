"""A training with Transformers: as a script by torchrun (transformers_program.py FOLDER), and as a
training function of Headway's. The model is made from a configuration, the tokenizer from a list of
words.
"""

import json
import os
import signal
import sys

import datasets
import tokenizers
import torch
import transformers
from headway import train
from headway.train.huggingface.transformers import ReportCallback, prepare_trainer

EPOCHS = 3
STEPS_PER_EPOCH = 4  # Of two ranks.
WORDS = ["[PAD]", "[UNK]", "good", "fine", "great", "bad", "poor", "awful", "film", "book"]


def tokenizer():
    words = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]")
    )
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=words, pad_token="[PAD]", unk_token="[UNK]")


def reviews():
    """64 lines of one to three words; those with a good one have label 1."""
    rows = [
        {"text": f"{adjective} {noun} {WORDS[2 + number % 8]}", "labels": int(adjective in WORDS[2:5])}
        for number, (adjective, noun) in enumerate(
            (adjective, noun) for _ in range(6) for adjective in WORDS[2:8] for noun in WORDS[8:]
        )
    ][:64]
    encode = tokenizer()
    return datasets.Dataset.from_list(rows).map(
        lambda row: encode(row["text"], padding="max_length", max_length=4), remove_columns=["text"]
    )


def model():
    transformers.set_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    return transformers.BertForSequenceClassification(transformers.BertConfig(vocab_size=len(WORDS), **sizes))


def arguments(folder, **others):
    return transformers.TrainingArguments(
        output_dir=folder,
        num_train_epochs=others.pop("epochs", EPOCHS),
        per_device_train_batch_size=8,
        learning_rate=0.01,
        logging_strategy="epoch",
        save_strategy="epoch",
        disable_tqdm=True,
        report_to=[],
        seed=0,
        average_tokens_across_devices=False,
        **others,
    )


class Kill(transformers.TrainerCallback):
    """Rank 1 is killed after a step, once."""

    def __init__(self, step):
        self.step = step

    def on_step_end(self, args, state, control, **kwargs):
        if state.global_step == self.step and train.get_context().get_world_rank() == 1:
            os.kill(os.getpid(), signal.SIGKILL)


def loop_over_shards(config):
    """Trains on its rank's share of a data set."""
    shards = {name: train.get_dataset_shard(name).iter_torch_batches(batch_size=8) for name in ("train", "evaluation")}
    made = transformers.Trainer(
        model=model(),
        args=arguments("trainer", max_steps=2 * STEPS_PER_EPOCH, eval_strategy="epoch", use_cpu=True),
        train_dataset=shards["train"],
        eval_dataset=shards["evaluation"],
        callbacks=[ReportCallback()],
    )
    prepare_trainer(made).train()


def loop(config):
    checkpoint = train.get_checkpoint()
    callbacks = [ReportCallback()]
    if "kill" in config and checkpoint is None:
        callbacks.append(Kill(config["kill"]))
    trainer = transformers.Trainer(
        model(),
        arguments(config.get("folder", "output"), **config.get("arguments", {})),
        train_dataset=reviews(),
        callbacks=callbacks,
    )
    trainer = prepare_trainer(trainer)
    if checkpoint is None:
        trainer.train()
    else:
        with checkpoint.as_directory() as folder:
            trainer.train(resume_from_checkpoint=os.path.join(folder, ReportCallback.CHECKPOINT_NAME))
    return trainer.args.world_size, trainer.state.global_step


if __name__ == "__main__":
    alone = transformers.Trainer(model(), arguments(sys.argv[1], use_cpu=True), train_dataset=reviews())
    alone.train()
    if alone.is_world_process_zero():
        torch.save(alone.model.state_dict(), os.path.join(sys.argv[1], "weights.pt"))
        with open(os.path.join(sys.argv[1], "losses.json"), "w") as file:
            json.dump([entry["loss"] for entry in alone.state.log_history if "loss" in entry], file)
