"""docs/compatibility.md says what is so: every row is looked up, and every public name has a
row.
"""

import builtins
import importlib
import inspect
import re
from pathlib import Path

import headway
import headway.data.aggregate
import headway.data.collate_fn
import headway.data.datatype
import headway.data.expressions
import headway.data.preprocessors
import headway.train.horovod
import headway.train.huggingface.transformers
import headway.train.jax
import headway.train.lightgbm
import headway.train.lightning
import headway.train.tensorflow.keras
import headway.train.torch
import headway.train.xgboost
import headway.tune.integration.keras
import headway.tune.integration.lightgbm
import headway.tune.integration.pytorch_lightning
import headway.tune.integration.ray_train
import headway.tune.integration.xgboost
import headway.tune.search.ax
import headway.tune.search.bayesopt
import headway.tune.search.bohb
import headway.tune.search.hebo
import headway.tune.search.hyperopt
import headway.tune.search.nevergrad
import headway.tune.search.optuna
import headway.tune.search.sample
import headway.tune.search.zoopt
import pytest
from headway import train

TABLE = Path(__file__).parents[2] / "docs" / "compatibility.md"
STATES = ("works", "differs", "not here")


def rows():
    """(name, state, note) of each row; a name is dotted, with one parameter in parentheses if it is
    about that.
    """
    found = re.findall(r"^\| `(headway[^`]*)` \| ([a-z ]+?) \| ?(.*?) ?\|$", TABLE.read_text(), re.MULTILINE)
    assert len(found) > 100
    return found


def look_up(name):
    """The object of a dotted name: the longest module of it, then attributes."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            found = getattr(found, part)
        return found
    raise ModuleNotFoundError(name)


def parameters_of(name):
    return inspect.signature(look_up(name)).parameters


@pytest.mark.parametrize(("name", "state", "note"), [pytest.param(*row, id=row[0]) for row in rows()])
def test_a_row_is_true(name, state, note):
    assert state in STATES
    dotted, _, parameter = name.rstrip(")").partition("(")
    if state != "not here":
        assert note or state == "works", "a difference needs its words"
        if parameter:
            assert parameter in parameters_of(dotted)
        else:
            look_up(dotted)
        return
    error = re.match(r"(absent|raises `(\w+)`)", note)
    assert error, "a row of what is not here begins with `absent` or with the error"
    if error[1] == "absent":
        if parameter:
            assert parameter not in parameters_of(dotted)
        else:
            # In a dataclass's field list too: an attribute without a default is found only there.
            with pytest.raises((AttributeError, ModuleNotFoundError)):
                look_up(dotted)
        return
    call = look_up(dotted)
    with pytest.raises(getattr(builtins, error[2])):
        call()


def test_every_public_name_has_a_row():
    listed = {row[0] for row in rows()}
    modules = (
        headway,
        train,
        headway.train.torch,
        headway.train.lightning,
        headway.train.huggingface.transformers,
        headway.train.tensorflow,
        headway.train.tensorflow.keras,
        headway.train.xgboost,
        headway.train.lightgbm,
        headway.train.jax,
        headway.train.horovod,
        headway.data,
        headway.data.aggregate,
        headway.data.collate_fn,
        headway.data.datatype,
        headway.data.expressions,
        headway.data.preprocessors,
        headway.tune,
        headway.tune.integration.keras,
        headway.tune.integration.lightgbm,
        headway.tune.integration.pytorch_lightning,
        headway.tune.integration.ray_train,
        headway.tune.integration.xgboost,
        headway.tune.search,
        headway.tune.search.ax,
        headway.tune.search.bayesopt,
        headway.tune.search.bohb,
        headway.tune.search.hebo,
        headway.tune.search.hyperopt,
        headway.tune.search.nevergrad,
        headway.tune.search.optuna,
        headway.tune.search.sample,
        headway.tune.search.zoopt,
    )
    public = {f"{module.__name__}.{name}" for module in modules for name in module.__all__}
    assert public - listed == set()


def test_a_name_has_one_row():
    names = [row[0] for row in rows()]
    assert len(names) == len(set(names))
