"""Search spaces, written once for Headway and for Ray: `tests/fixtures/make_ray_draws.py` keeps
what Ray draws from them.
"""


def spaces(tune):
    """By name."""
    return {
        "floats": {
            "uniform": tune.uniform(-1, 1),
            "quniform": tune.quniform(0, 1, 0.25),
            "loguniform": tune.loguniform(1e-4, 1e-1),
            "loguniform2": tune.loguniform(1, 64, 2),
            "qloguniform": tune.qloguniform(1e-4, 1e-1, 5e-5),
            "randn": tune.randn(10, 2),
            "qrandn": tune.qrandn(10, 2, 0.2),
        },
        "integers": {
            "randint": tune.randint(-9, 15),
            "qrandint": tune.qrandint(-21, 12, 3),
            "qrandint1": tune.qrandint(0, 3),
            "lograndint": tune.lograndint(1, 1000),
            "qlograndint": tune.qlograndint(2, 100, 2),
            "qlograndint1": tune.qlograndint(1, 5, 1),
        },
        "grids": {
            "z": tune.grid_search([1, 2, 3]),
            "x": tune.uniform(0, 1),
            "a": {"deep": tune.grid_search(["u", "v"])},
            "c": tune.choice(["red", "green", 3, None, (1, 2)]),
        },
        "references": {
            "three": tune.sample_from(lambda spec: spec.config.two + 1),
            "two": tune.sample_from(lambda spec: spec.config.one * 2),
            "one": tune.uniform(0, 1),
            "g": tune.grid_search([10, 20]),
            "with_g": tune.sample_from(lambda spec: spec.config.g + spec.config.one),
        },
        "nested": {
            "layers": [tune.randint(1, 9), {"units": tune.choice([8, 16])}, [tune.uniform(0, 1)]],
            "optimizer": {"lr": tune.loguniform(1e-3, 1), "kind": "sgd", "betas": {"one": tune.randn()}},
            "branch": tune.choice(
                [{"kind": "a", "alpha": tune.uniform(0, 1)}, {"kind": "b", "beta": tune.grid_search([1, 2])}, 0]
            ),
        },
        "constants": {"name": "fixed", "flag": True, "none": None, "minus": -3, "path": "a/b-c.d", "items": [1, 2]},
        "tags": {
            "flag": tune.grid_search([True, None, -3, "a/b-c.d", [1, 2], 1e-9, 123456.789, "x" * 200, {"k": 1}]),
            "optimizer": {"lr": tune.grid_search([0.5])},
        },
    }


def presets():
    """(space, points to evaluate)."""
    return [
        ("grids", [{"x": 0.5}, {"z": 2, "a": {"deep": "v"}, "c": 3, "x": 0.25}]),
        ("nested", [{"optimizer": {"lr": 0.5, "betas": {"one": 1.5}}}]),
        ("references", [{"one": 0.5, "g": 20}]),
    ]
