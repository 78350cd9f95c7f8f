"""Arrays with the correct size but another shape than the entries: datasets, replicas and Exodus files refuse them on
all ranks, and the message on every rank gives the reason.

SPDX-License-Identifier: BSD-3-Clause"""
import numpy as np

import tutti
from tutti import Dataset, Exodus, File, Replicas

ROWS, COLUMNS = 8, 4


def refused(comm, culprit, call, bad, good, words="shape"):
    """Call call(bad) on one rank and call(good) on the others: all ranks must raise the same message, which contains these words."""
    message = ""
    try:
        call(bad if comm.rank == culprit else good)
    except tutti.Error as error:
        assert error.name == "TUTTI_ERR_ARG", error
        message = str(error)
    assert words in message, (np.shape(bad), message)
    number = sum(i * c for i, c in enumerate(message.encode(), 1))
    assert len(set(comm.allgather(number))) == 1, message
    call(good)


def waits(start):
    def call(*arguments):
        start(*arguments).wait()
    return call


def each_call(comm, rng, calls, good, fits, wrong):
    culprit = int(rng.integers(comm.size))
    for call in calls:
        for shape in fits:
            call(np.ones(shape) if comm.rank == culprit else good)
        for shape in wrong:
            refused(comm, culprit, call, np.ones(shape), good)


def test_datasets(comm, rng, path):
    with Dataset(comm, path, "w+", level="visible") as d:
        d.grid("grid", (ROWS * comm.size, COLUMNS))
        d.variable("u", "grid", "f8")
        d.variable("v", "grid", "f8")
        d.variable("w", "grid", "f8", item="vector", components=3)
        at = ROWS * comm.rank
        block = d.decomposition("grid", slice=np.s_[at:at + ROWS, :])
        items = d.decomposition("grid", index=np.arange(at * COLUMNS, (at + ROWS) * COLUMNS))
        row = d.decomposition("grid", slice=np.s_[at, :])
        good, vectors = np.ones((ROWS, COLUMNS)), np.ones((ROWS, COLUMNS, 3))
        of_slice = (good, [(ROWS * COLUMNS,), (ROWS, 1, COLUMNS)],
                    [(COLUMNS, ROWS), (ROWS // 2, 2 * COLUMNS), (ROWS + 2, COLUMNS + 2), (ROWS, COLUMNS, 2), (2, ROWS // 2, COLUMNS),
                     (ROWS * COLUMNS + 1,), (ROWS * COLUMNS - 1,), (ROWS - 1, COLUMNS)])
        of_vectors = (vectors, [(ROWS * COLUMNS * 3,)],
                      [(3, ROWS, COLUMNS), (COLUMNS, ROWS, 3), (ROWS, 3, COLUMNS), (ROWS * COLUMNS, 3), (ROWS, COLUMNS, 4), (ROWS, COLUMNS)])
        of_list = (vectors.reshape(-1, 3), [(ROWS * COLUMNS * 3,), (ROWS, COLUMNS, 3)],
                   [(3, ROWS * COLUMNS), (3, ROWS, COLUMNS), (ROWS * COLUMNS, 4), (ROWS * COLUMNS + 1, 3)])
        with d.state(0, 0.0):
            d.put(block, v=good)
            each_call(comm, rng, [lambda x: d.put(block, u=x), lambda x: d.put(block, {"v": good, "u": x}),
                                  waits(lambda x: d.put_start(block, u=x))], *of_slice)
            each_call(comm, rng, [lambda x: d.put(block, w=x), waits(lambda x: d.put_start(block, w=x))], *of_vectors)
            each_call(comm, rng, [lambda x: d.put(items, w=x), waits(lambda x: d.put_start(items, w=x))], *of_list)
            each_call(comm, rng, [lambda x: d.put(row, u=x)], np.ones(COLUMNS), [(1, COLUMNS)], [(2, COLUMNS // 2), (COLUMNS, 2)])
            refused(comm, 0, lambda x: d.put(block, u=x), np.ones((ROWS, COLUMNS), order="F"), good, "column-major")
        each_call(comm, rng, [lambda x: d.get(0, block, out={"u": x}), lambda x: d.get(0, block, out={"v": np.ones_like(good), "u": x}),
                              waits(lambda x: d.get_start(0, block, {"u": x}))], *of_slice)
        each_call(comm, rng, [lambda x: d.get(0, block, out={"w": x}), waits(lambda x: d.get_start(0, block, {"w": x}))], *of_vectors)
        each_call(comm, rng, [lambda x: d.get(0, items, out={"w": x}), waits(lambda x: d.get_start(0, items, {"w": x}))], *of_list)


def test_replicas(comm, rng, path):
    n = 5
    numbers = np.arange(4 * comm.rank, 4 * comm.rank + n)
    with File(comm, path, "w+") as f, Replicas(comm, numbers, load=3) as r:
        each_call(comm, rng, [r.check, lambda x: r.write(f, 0, x), lambda x: r.read(f, 0, x)], np.ones((n, 3)), [(3 * n,), (n + 1, 3)],
                  [(3, n), (n, 4), (n + 1, 4), (2 * n, 2)])


def test_exodus(comm, rng, path):
    n = 6
    with Exodus.create(comm, path, level="visible") as x:
        x.init(dims=2, nodes=n * comm.size, elements=2 * comm.size)
        x.define(kind="element block", id=1, topology="QUAD4", entries=2 * comm.size, nodes=4)
        x.variables("nodal", ["t"])
        x.end_definitions()
        each_call(comm, rng, [lambda a: x.put_arrays([dict(array_kind="connectivity", kind="element block", id=1, first=2 * comm.rank,
                                                           values=a.astype(np.int64))])], np.ones((2, 4)), [(8,)], [(4, 2)])
        nodes = x.decomposition(index=np.arange(n * comm.rank, n * comm.rank + n))
        wrong = [(n + 1,), (n - 1,), (n, 2), (2, n)]
        with x.step(0.5):
            each_call(comm, rng, [lambda a: x.put(t=a, entries=nodes), waits(lambda a: x.put_start(t=a, entries=nodes))], np.ones(n),
                      [(n, 1), (2, n // 2)], wrong)
        each_call(comm, rng, [lambda a: x.get(1, out={"t": a}, entries=nodes), waits(lambda a: x.get_start(1, {"t": a}, entries=nodes))],
                  np.ones(n), [(n, 1)], wrong)
        each_call(comm, rng, [lambda a: x.get_arrays([dict(array_kind="connectivity", kind="element block", id=1, first=2 * comm.rank,
                                                           values=np.ones(a.shape, np.int64))])], np.ones((2, 4)), [(8,)], [(4, 2)])


def test_meshes_of_exodus_files(comm, path):
    def write(name, nodes):
        with Exodus.create(comm, name, level="visible") as x:
            x.init(dims=2)
            x.define(kind="element block", id=1, topology="QUAD4")
            x.put_mesh(node_ids=4 * comm.rank + np.arange(1, 5), coordinates=np.zeros((4, 2)),
                       blocks=[dict(ids=[2 * comm.rank + 1, 2 * comm.rank + 2], nodes=nodes)])
    write(path + ".1", np.array([[0, 1, 2, 3], [3, 2, 1, 0]]))
    try:
        write(path + ".2", np.array([[0, 1, 2, 3], [3, 2, 1, 0]]).T.copy())
    except tutti.Error as error:
        assert "nodes of block 1 has shape (4, 2): must be (2, 4)" in str(error), error
        return
    raise AssertionError("a transposed connectivity was accepted")
