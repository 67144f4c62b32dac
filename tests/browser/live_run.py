"""A driver with a dashboard, whose run of two ranks reports once for each line that rank 1 reads
from a named pipe: live_run.py FOLDER PIPE. Prints the page's address, and where nodes join with the
token in FOLDER/token.
"""

import contextlib
import sys

import headway
from headway import train


def loop(config):
    rank = train.get_context().get_world_rank()
    with open(config["pipe"]) if rank == 1 else contextlib.nullcontext() as lines:
        for number in range(1000):
            if rank == 1:
                line = lines.readline()
                if not line:
                    return
                print(line, end="", flush=True)
            else:
                print(f"rank 0 begins step {number}", flush=True)
            train.report({"loss": 1 / (number + 1)})


def main(folder, pipe):
    headway.init(num_cpus=2, dashboard=True, listen="127.0.0.1:0", token_file=f"{folder}/token")
    print(headway.dashboard_url(), flush=True)
    print(headway.join_address(), flush=True)
    trainer = train.DataParallelTrainer(
        loop,
        train_loop_config={"pipe": pipe},
        scaling_config=train.ScalingConfig(num_workers=2, resources_per_worker={"CPU": 1}),
        run_config=train.RunConfig(name="live", storage_path=folder),
    )
    trainer.fit()


if __name__ == "__main__":
    main(*sys.argv[1:])
