"""Automatic mixed precision of the older API: ``accelerate(amp=True)``, ``prepare_optimizer``,
``backward``.

New code is as well served by ``torch.autocast`` and ``torch.amp.GradScaler`` themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headway import _session as worker_session
from headway._values.arguments import check_bool, refuse
from headway.train.torch import _loop_progress

if TYPE_CHECKING:
    import torch

    from headway.train.torch._scaled_optimizer import LossScale

_amp: bool | None = None
"""What accelerate() was called with; None before."""
_prepared = False
_scale: LossScale | None = None


def accelerate(amp: bool = False) -> None:
    """Says, before any other function of ``headway.train.torch``, whether to train in mixed
    precision.

    With ``amp=True`` the model of :func:`prepare_model` computes its ``forward`` under autocast: in
    float16 on GPUs, where :func:`backward` and the optimizer of :func:`prepare_optimizer` scale the
    loss; in bfloat16 on CPUs, which needs no scaling.

    Args:
        amp: Whether to use mixed precision; default False, full precision.

    Raises:
        RuntimeError: called outside of a training function, twice, or after ``prepare_model`` or
            ``prepare_optimizer``.
        TypeError: ``amp`` is no bool.

    Example:
        >>> from headway.train.torch import accelerate, backward, prepare_model, prepare_optimizer
        >>> def loop():
        ...     import torch
        ...     accelerate(amp=True)
        ...     model = prepare_model(torch.nn.Linear(4, 1))
        ...     optimizer = prepare_optimizer(torch.optim.SGD(model.parameters(), lr=0.1))
        ...     backward(model(torch.randn(8, 4)).float().square().mean())
        ...     optimizer.step()
    """
    global _amp
    worker_session.current("accelerate()")
    check_bool("amp", amp)
    if _amp is not None:
        raise RuntimeError("accelerate() was called a second time; call it once, first of all in the training function")
    if _prepared:
        raise RuntimeError("accelerate() was called after prepare_model() or prepare_optimizer(); call it before them")
    _amp = amp


def prepare_optimizer(optimizer: torch.optim.Optimizer) -> torch.optim.Optimizer:
    """An optimizer that fits the arguments of :func:`accelerate`.

    Args:
        optimizer: Made of the prepared model's parameters.

    Returns:
        The same, unless ``accelerate(amp=True)`` was called and this rank has a GPU: then one whose
        ``step`` takes the loss's scale out of the gradients first, and skips the step when they are
        not finite.

    Raises:
        RuntimeError: called outside of a training function.
        TypeError: ``optimizer`` is none.

    Example:
        >>> from headway.train.torch import accelerate, backward, prepare_model, prepare_optimizer
        >>> def loop():
        ...     import torch
        ...
        ...     accelerate(amp=True)
        ...     model = prepare_model(torch.nn.Linear(4, 1))
        ...     optimizer = prepare_optimizer(torch.optim.SGD(model.parameters(), lr=0.1))
        ...     backward(model(torch.ones(2, 4)).mean())
        ...     optimizer.step()
    """
    global _prepared
    worker_session.current("prepare_optimizer()")
    import torch

    if not isinstance(optimizer, torch.optim.Optimizer):
        refuse("optimizer", optimizer, "a torch.optim.Optimizer")
    _prepared = True
    _loop_progress.watch_steps()
    scale = _loss_scale()
    if scale is None:
        return optimizer
    from headway.train.torch._scaled_optimizer import ScaledOptimizer

    return ScaledOptimizer(optimizer, scale)


def backward(tensor: torch.Tensor) -> None:
    """Computes gradients as ``tensor.backward()`` does, of the scaled loss where :func:`accelerate`
    asks for that.

    Args:
        tensor: The loss: a tensor of one element.

    Raises:
        RuntimeError: called outside of a training function.
        TypeError: ``tensor`` is none.

    Example:
        >>> from headway.train.torch import accelerate, backward, prepare_model, prepare_optimizer
        >>> def loop():
        ...     import torch
        ...
        ...     accelerate(amp=True)
        ...     model = prepare_model(torch.nn.Linear(4, 1))
        ...     optimizer = prepare_optimizer(torch.optim.SGD(model.parameters(), lr=0.1))
        ...     backward(model(torch.ones(2, 4)).mean())
        ...     optimizer.step()
    """
    worker_session.current("backward()")
    import torch

    if not isinstance(tensor, torch.Tensor):
        refuse("tensor", tensor, "a torch.Tensor")
    scale = _loss_scale()
    (tensor if scale is None else scale.apply(tensor)).backward()


def check_strategy(parallel_strategy: str | None, world_size: int) -> None:
    """For prepare_model(): the sharded strategies have their own mixed precision.

    Raises:
        ValueError: naming what to use.
    """
    global _prepared
    _prepared = True
    own = {"fsdp": "mixed_precision", "fsdp2": "mp_policy"}.get(parallel_strategy or "")
    if _amp and own is not None and world_size > 1:
        raise ValueError(
            f'parallel_strategy is "{parallel_strategy}" after accelerate(amp=True); allowed: "ddp", None, or without '
            f'accelerate(), whose scaling knows nothing of shards, parallel_strategy_kwargs={{"{own}": ...}}'
        )


def wrap_forward(model: torch.nn.Module, device: torch.device) -> torch.nn.Module:
    """For prepare_model(): has ``model.forward`` run under autocast where accelerate() asked for
    it.
    """
    if _amp:
        import torch

        dtype = torch.float16 if device.type == "cuda" else torch.bfloat16
        model.forward = AutocastForward(model.forward, device.type, dtype)
    return model


class AutocastForward:
    """A model's ``forward`` under autocast. An object, so that the model can still be pickled and
    copied.

    Args:
        forward: The model's own, bound method.
        device_type: ``"cuda"`` or ``"cpu"``.
        dtype: What matrix products and convolutions are computed in.
    """

    def __init__(self, forward: Any, device_type: str, dtype: torch.dtype):
        self.forward = forward
        self.device_type = device_type
        self.dtype = dtype

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What ``forward`` gives."""
        import torch

        with torch.autocast(self.device_type, self.dtype):
            return self.forward(*args, **kwargs)


def _loss_scale() -> LossScale | None:
    """The scale that all losses and optimizers of this process share; None where the loss is not
    scaled.
    """
    global _scale
    from headway.train.torch.devices import get_device

    if _amp and _scale is None and get_device().type == "cuda":
        from headway.train.torch._scaled_optimizer import LossScale

        _scale = LossScale("cuda")
    return _scale
