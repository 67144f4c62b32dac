"""Text classification with BERT: is a sentence grammatical? A small BERT is made from a
configuration and trained by the Trainer of Transformers on two ranks. Sentences such as "the dogs
near the cat sleep" are generated, and tokenized with a word list by ``headway.data``.

    python examples/transformers_text.py

It needs transformers and accelerate; nothing is downloaded. HEADWAY_EXAMPLE_KILL=1 kills a rank
once (lose_a_rank.py).
"""

import random

import headway.data
import numpy
import tokenizers
import torch
import transformers
from headway import train
from headway.train.huggingface.transformers import ReportCallback, prepare_trainer
from headway.train.torch import TorchTrainer
from lose_a_rank import lose_a_rank

STEPS = 240  # Of optimizer; each is of 2 ranks x 32 sentences.
NOUNS = ["dog", "cat", "bird", "child", "robot", "pilot"]
VERBS = ["sleep", "sing", "run", "wait", "laugh", "jump"]
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "near", "behind", *NOUNS, *VERBS]
WORDS += [f"{word}s" for word in (*NOUNS, *VERBS)]
LENGTH = 8


def sentences(count=4000):
    """Half of them grammatical: the verb agrees with the first noun, whatever the second one is."""
    draw = random.Random(0)
    for _ in range(count):
        plural, other, grammatical = (draw.random() < 0.5 for _ in range(3))
        subject = draw.choice(NOUNS) + "s" * plural
        place = f"{draw.choice(['near', 'behind'])} the {draw.choice(NOUNS)}{'s' * other}"
        verb = draw.choice(VERBS) + "s" * (plural != grammatical)
        yield {"text": f"the {subject} {place} {verb}", "label": int(grammatical)}


def tokenize(batch):
    """Word numbers of a batch of sentences; ``headway.data`` calls it in separate processes."""
    words = tokenizers.models.WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]")
    tokenizer = tokenizers.Tokenizer(words)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.post_processor = tokenizers.processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.enable_padding(length=LENGTH)
    encoded = tokenizer.encode_batch([str(text) for text in batch["text"]])
    ids, mask = (numpy.array([getattr(each, name) for each in encoded]) for name in ("ids", "attention_mask"))
    return {"input_ids": ids, "attention_mask": mask, "labels": batch["label"]}


# --- The training function: it runs in every rank. ---


def make_model():
    transformers.set_seed(0)
    sizes = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128}
    # So small a model learns from so few sentences only with larger first weights, and no dropout.
    sizes |= {"initializer_range": 0.1, "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    return transformers.BertForSequenceClassification(
        transformers.BertConfig(vocab_size=len(WORDS), max_position_embeddings=LENGTH, **sizes)
    )


def accuracy(predictions):
    return {"accuracy": float((predictions.predictions.argmax(-1) == predictions.label_ids).mean())}


class Lose(transformers.TrainerCallback):
    """For HEADWAY_EXAMPLE_KILL."""

    def on_step_end(self, args, state, control, **kwargs):
        lose_a_rank(now=state.global_step == 100)


def classify(config):
    arguments = transformers.TrainingArguments(
        output_dir="output",
        max_steps=STEPS,
        learning_rate=1e-3,
        lr_scheduler_type="cosine",
        warmup_steps=20,
        eval_strategy="steps",
        eval_steps=STEPS // 4,
        save_strategy="steps",  # ReportCallback reports when the Trainer saves.
        save_steps=STEPS // 4,
        logging_steps=STEPS // 4,
        average_tokens_across_devices=False,  # docs/transformers.md
        ddp_find_unused_parameters=False,
        report_to=[],
        disable_tqdm=True,
    )
    trainer = transformers.Trainer(
        make_model(),
        arguments,
        train_dataset=train.get_dataset_shard("train").iter_torch_batches(batch_size=32),
        eval_dataset=train.get_dataset_shard("test").iter_torch_batches(batch_size=100),
        compute_metrics=accuracy,
        callbacks=[ReportCallback(), Lose()],
    )
    trainer = prepare_trainer(trainer)
    if checkpoint := train.get_checkpoint():  # There is one after a restart.
        with checkpoint.as_directory() as folder:
            trainer.train(resume_from_checkpoint=f"{folder}/{ReportCallback.CHECKPOINT_NAME}")
    else:
        trainer.train()


# --- The driver: it runs once, here. ---


def main():
    tokens = headway.data.from_items(list(sentences())).map_batches(tokenize)
    training, test = tokens.train_test_split(0.2)  # Computed here, once.
    result = TorchTrainer(
        classify,
        datasets={"train": training.random_shuffle(seed=0), "test": test},
        scaling_config=train.ScalingConfig(num_workers=2),
        run_config=train.RunConfig(failure_config=train.FailureConfig(max_failures=1)),
    ).fit()

    with result.checkpoint.as_directory() as folder:
        model = transformers.BertForSequenceClassification.from_pretrained(
            f"{folder}/{ReportCallback.CHECKPOINT_NAME}"
        ).eval()
    for text in ("the dogs near the cat sleep", "the dogs near the cat sleeps"):
        ids = tokenize({"text": [text], "label": [0]})["input_ids"]
        answer = model(torch.tensor(ids)).logits.argmax().item()
        print(f"{text}: {'yes' if answer else 'no'}")
    print(f"Test accuracy: {result.metrics['eval_accuracy']:.3f}")


if __name__ == "__main__":
    main()
