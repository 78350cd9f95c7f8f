#!/usr/bin/env python3
"""run.py [--mpi] [--installed] [--times] [--reach FILE] [-k TEXT] FILE...: runs the functions test_* of these files,
like pytest, but on all ranks.

Arguments of tests by name:

    comm    the communicator of all ranks (with --mpi)
    path    a name for files of the test, the same on all ranks; no file exists there
    rng     NumPy's random numbers, the same on all ranks; the seed is printed (TUTTI_TEST_SEED repeats it)

All ranks run a test and exchange the result: a failure on one rank is a failure of the test.  A test is skipped by
raising unittest.SkipTest.  With --reach every public function of the library must have been called, except those for which
the file gives a reason.

SPDX-License-Identifier: BSD-3-Clause"""
import argparse
import importlib.util
import inspect
import os
import pathlib
import sys
import time
import traceback
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
if "--installed" not in sys.argv:
    sys.path.insert(0, os.path.join(os.environ["TUTTI_BUILD_DIR"], "python"))

import numpy as np  # noqa: E402


def record(reached):
    """Wrap every function of the library, so that its name is added to `reached` when it is called."""
    from tutti import _api, _c

    def watch(name, function):
        def called(*arguments):
            reached.add(name)
            return function(*arguments)
        return called

    for name in _api.FUNCTIONS:
        if hasattr(_c, name):
            setattr(_c, name, watch(name, getattr(_c, name)))
    library = _c.library

    class Library:  # the modules call some functions as attributes of the library
        def __getattr__(self, name):
            if name in _api.FUNCTIONS:
                reached.add(name)
            return getattr(library, name)

    _c.library = Library()


def not_reached(reached, file):
    """Return the number of functions not called and not listed in the file, plus invalid entries of the file."""
    from tutti import _api
    lines = pathlib.Path(file).read_text(encoding="ascii").splitlines()
    excused = {line.split()[0] for line in lines if line.strip() and not line.startswith("#")}
    wrong = [f"{n} was not called: no class of the binding uses it, or no test does" for n in
             sorted(_api.FUNCTIONS.keys() - reached - excused)]
    wrong += [f"{n} is excused in {file}, and the binding calls it, or it is not there" for n in
              sorted(excused & reached | excused - _api.FUNCTIONS.keys())]
    print("\n".join(wrong), end="\n" if wrong else "")
    return len(wrong)


def load(file):
    spec = importlib.util.spec_from_file_location(pathlib.Path(file).stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [(f"{module.__name__}.{n}", f) for n, f in vars(module).items() if n.startswith("test_") and callable(f)]


def run_one(name, function, comm, where, seed):
    """Run a test; return 0 (passed), 1 (failed) or 2 (skipped)."""
    given = {"comm": comm, "path": os.path.join(where, name), "rng": np.random.default_rng(seed)}
    try:
        function(**{p: given[p] for p in inspect.signature(function).parameters})
        return 0
    except unittest.SkipTest as skip:
        if comm is None or comm.rank == 0:
            print(f"{name}: skipped: {skip}")
        return 2
    except BaseException:  # pylint: disable=broad-except
        rank = "" if comm is None else f" on rank {comm.rank} of {comm.size}"
        print(f"{name} failed{rank} (TUTTI_TEST_SEED={seed}):\n{traceback.format_exc()}", flush=True)
        return 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mpi", action="store_true")
    parser.add_argument("--reach")
    parser.add_argument("-k", default="")
    parser.add_argument("--installed", action="store_true", help="not the package of the source tree")
    parser.add_argument("--times", action="store_true")
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    comm, reached = None, set()
    if arguments.reach:
        record(reached)
    if arguments.mpi:
        import tutti
        comm = tutti.mpi.world()
    seed = int(os.environ.get("TUTTI_TEST_SEED") or time.time_ns() % 1000000)
    if comm is not None:
        seed = comm.allgather(seed)[0]
    if comm is None or comm.rank == 0:
        print(f"TUTTI_TEST_SEED={seed}", flush=True)
    where = os.environ.get("TUTTI_TEST_DIR", ".")
    failed = skipped = 0
    for file in arguments.files:
        for name, function in load(file):
            if arguments.k not in name:
                continue
            began = time.monotonic()
            code = run_one(name, function, comm, where, seed)
            codes = [code] if comm is None else comm.allgather(code)
            if arguments.times and (comm is None or comm.rank == 0):
                print(f"{time.monotonic() - began:6.2f} s  {name}", flush=True)
            failed += 1 in codes
            skipped += 2 in codes
    if arguments.reach and not failed:
        failed += not_reached(reached, arguments.reach)
    if (failed or skipped) and (comm is None or comm.rank == 0):
        print(f"{failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 0)


main()
