# Each target alone is enough on a fresh machine: it makes .venv, installs what is missing, and builds.
.DEFAULT_GOAL := build
# Without compiled modules each process compiles torch again: 5 s on a slow machine.
unexport PYTHONDONTWRITEBYTECODE
.PHONY: demo picture dashboard-pictures test test-all soak bench lint sanitize wheel wheels docs horovod kubernetes build clean

demo:
	@scripts/demo.sh

test:
	@scripts/test.sh

# Everything: see CONTRIBUTING.md.
test-all:
	@scripts/test.sh all

bench: build
	@scripts/bench.sh $(ARGS)

lint:
	@scripts/bootstrap.sh build runtime lint
	@scripts/lint/run.sh

soak: build
	@build/sim/headway_sim --seeds $(or $(SEEDS),1000000) --first $(or $(FIRST),0)

sanitize: build
	@scripts/sanitize.sh

# For glibc 2.28 and newer, and the Python of .venv.
wheel:
	@scripts/bootstrap.sh build wheel
	@scripts/portable_wheel.sh dist

# One for each interpreter of PYTHONS, tried in a fresh environment.
wheels:
	@scripts/wheels.sh dist $(PYTHONS)

docs: build
	@.venv/bin/python scripts/docs.py build/docs

# Horovod, built for the PyTorch of .venv.
horovod:
	@scripts/bootstrap.sh build runtime torch
	@scripts/horovod.sh

# Kubernetes' API server, scheduler and controllers, from Debian's source.
kubernetes:
	@scripts/kubernetes_servers.sh

dashboard-pictures:
	@scripts/bootstrap.sh build runtime
	@scripts/browser.sh
	@scripts/build.sh _core headway_guard
	@.venv/bin/python scripts/dashboard_pictures.py

picture:
	@scripts/bootstrap.sh build runtime torch demo picture
	@scripts/build.sh _core headway_guard
	@.venv/bin/python scripts/picture.py

build:
	@scripts/bootstrap.sh build runtime torch demo test
	@scripts/build.sh

# The environment in .venv stays; `rm -rf .venv` removes it too.
clean:
	rm -rf build dist python/headway/bin python/headway/lib python/headway/_core*.so .mypy_cache .ruff_cache .pytest_cache
