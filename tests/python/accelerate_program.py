"""A training as Accelerate's own guide has it, with nothing of Headway's and no argument about the
device: as a script by torchrun (accelerate_program.py FILE), and as a training function.
"""

import json
import sys

import torch
from accelerate import Accelerator


def script():
    """Returns the number of processes, the batches of each, and the weights of all."""
    torch.manual_seed(0)
    accelerator = Accelerator()
    inputs = torch.randn(64, 4)
    data = torch.utils.data.TensorDataset(inputs, inputs.sum(dim=1, keepdim=True))
    loader = torch.utils.data.DataLoader(data, batch_size=8, shuffle=True)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for _ in range(3):
        for batch, targets in loader:
            loss = torch.nn.functional.mse_loss(model(batch), targets)
            optimizer.zero_grad()
            accelerator.backward(loss)
            optimizer.step()
    weights = accelerator.unwrap_model(model).weight.detach()
    return accelerator.num_processes, len(loader), accelerator.gather(weights).tolist(), accelerator.device.type


if __name__ == "__main__":
    _, _, weights, _ = script()
    if Accelerator().is_main_process:
        with open(sys.argv[1], "w") as file:
            json.dump(weights, file)
