"""Optimizers of scaled losses. Imports torch, so it is imported on use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


class LossScale:
    """A ``GradScaler`` whose scale moves between iterations, whatever number of losses and
    optimizers they have.

    The scale is adapted when the next loss comes, not after a step: a second optimizer's gradients,
    which are scaled already, would be divided by another number than they were multiplied with.

    Args:
        device_type: ``"cuda"`` or ``"cpu"``.
    """

    def __init__(self, device_type: str):
        self._scaler = torch.amp.GradScaler(device_type)
        self._stepped = False

    def apply(self, loss: torch.Tensor) -> torch.Tensor:
        """The loss, scaled."""
        if self._stepped:
            self._scaler.update()
            self._stepped = False
        return self._scaler.scale(loss)

    def step(self, optimizer: torch.optim.Optimizer) -> Any:
        """Steps with gradients of the true size, or not at all when one of them is not finite."""
        self._stepped = True
        return self._scaler.step(optimizer)


class ScaledOptimizer(torch.optim.Optimizer):
    """Another optimizer, all of it, but for ``step``.

    Args:
        optimizer: The one that it stands for.
        scale: Of the losses whose gradients come.
    """

    def __init__(self, optimizer: torch.optim.Optimizer, scale: LossScale):
        # No super().__init__: parameters and state are the other's. Learning rate schedulers find
        # them through here.
        object.__setattr__(self, "_optimizer", optimizer)
        object.__setattr__(self, "_scale", scale)

    def __getattr__(self, name: str) -> Any:
        if name == "_optimizer":
            raise AttributeError(name)
        return getattr(self._optimizer, name)

    def __setattr__(self, name: str, value: Any) -> None:
        # Schedulers replace `step` by one that counts.
        if name == "step":
            object.__setattr__(self, name, value)
        else:
            setattr(self._optimizer, name, value)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One step of the optimizer; a closure, which would have to scale its loss by itself, is
        refused.
        """
        if closure is not None:
            raise ValueError("closure is given to an optimizer of scaled losses; allowed: None")
        return self._scale.step(self._optimizer)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forgets the gradients."""
        self._optimizer.zero_grad(set_to_none)

    def state_dict(self) -> dict[str, Any]:
        """The optimizer's own state."""
        return self._optimizer.state_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over a state of the wrapped optimizer."""
        self._optimizer.load_state_dict(state_dict)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Adds a group to the optimizer's own."""
        self._optimizer.add_param_group(param_group)

    def __repr__(self) -> str:
        return f"ScaledOptimizer({self._optimizer!r})"
