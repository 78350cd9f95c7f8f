"""Wrong arguments on one rank raise an exception on all ranks; no rank crashes or hangs, and all calls work afterwards.

SPDX-License-Identifier: BSD-3-Clause"""
import io
import pickle

import numpy as np

import tutti
from tutti import Access, Array, Dataset, Distribution, Exodus, File, Mesh, Part, Replicas
from test_meshes import squares


def refused(comm, culprit, bad, good, *kinds, block=False):
    """Call `bad` on one rank and `good` on all others: all ranks must raise the same error (with `block`, rank `culprit`
    may raise another exception)."""
    told, reason = "", True
    try:
        (bad if comm.rank == culprit else good)()
    except (tutti.Error, *(kinds if block else ())) as error:
        error = error if isinstance(error, tutti.Error) else error.__cause__
        told = error.name
        reason = error.__cause__ is None or str(error.__cause__) in str(error)
        if comm.rank == culprit and kinds and error.__cause__ is not None:
            assert isinstance(error.__cause__, kinds), repr(error.__cause__)
    codes = comm.allgather(sum(told.encode()))
    assert told and len(set(codes)) == 1, (told, codes)
    assert all(comm.allgather(int(reason))), "the reason is in the cause alone"


def waits_later(comm, start, *arguments):
    """Start an operation, communicate, then wait; a start that waits for other ranks would cause a deadlock."""
    request = start(*arguments)
    comm.allgather(1)
    while not request.test():
        pass


def raises(function, *kinds):
    """Check that a call raises one of these exceptions on this rank."""
    try:
        function()
    except kinds or (tutti.Error,):
        return
    raise AssertionError("nothing was raised")


def test_files(comm, rng, path):
    culprit = int(rng.integers(comm.size))
    x = np.arange(64.)
    a = Access.contiguous(comm.rank * 512, 512)
    freed = a.copy()
    freed.free()
    frozen = x.copy()
    frozen.flags.writeable = False
    raises(lambda: freed.bytes)
    raises(lambda: Access.contiguous(-1, 5))
    raises(lambda: Access.contiguous(2 ** 70, 5), OverflowError, Exception)
    raises(lambda: Access(), TypeError)
    raises(lambda: Access.runs([1, 2], [3]), ValueError)
    raises(lambda: Access.runs([1.5], [3]), TypeError)
    raises(lambda: Access.parse(b"rubbish"))
    with File(comm, path, "w+") as f:
        f.write(a, x)
        bad = [(a, x[:10]), (a, x[::-1]), (a, np.zeros((64, 2))[:, 0]), (a, [1, 2, 3]), (a, "text"), (a, None), (None, x), (7, x),
               (freed, x), (a, np.array([object()] * 64)), (a.shift(0, -8), x)]
        for access, buf in bad:
            def whole(access, buf, way=(f.write, f.write_begin, f.write_start)[rng.integers(3)]):
                done = way(access, buf)
                if hasattr(done, "end"):
                    done.end()
                elif hasattr(done, "wait"):
                    done.wait()

            refused(comm, culprit, lambda: whole(access, buf), lambda: whole(a, x))
        refused(comm, culprit, lambda: waits_later(comm, f.write_start, a, x[:10]), lambda: waits_later(comm, f.write_start, a, x))
        refused(comm, culprit, lambda: f.read(a, frozen), lambda: f.read(a, x), ValueError)
        refused(comm, culprit, lambda: f.read(a, b"x" * 512), lambda: f.read(a, x), ValueError)
        refused(comm, culprit, lambda: f.write_parts([Part(a, x, ">f4"), Part(a, x[:1])]),
                lambda: f.write_parts([Part(a, x)]))
        refused(comm, culprit, lambda: f.write_parts([Part(a, x, "U3")]), lambda: f.write_parts([]))
        refused(comm, culprit, lambda: f.plan_write(None), lambda: f.plan_write(a))
        plan = f.plan_write(a)
        refused(comm, culprit, lambda: plan.run(x[:3]), lambda: plan.run(x))
        refused(comm, culprit, lambda: plan.run_parts([x[:3]]), lambda: plan.run_parts([x]))
        refused(comm, culprit, lambda: plan.run(x, "there"), lambda: plan.run(x), TypeError)
        for wrong in (lambda: plan.start(x[:3]), lambda: plan.start_parts([]), lambda: plan.start("x")):
            refused(comm, culprit, lambda: _wait(plan, wrong), lambda: _wait(plan, lambda: plan.start(x)))
        assert plan.run(x) == 512
        refused(comm, culprit, lambda: f.resize(2 ** 80), lambda: f.resize(5))
        refused(comm, culprit, lambda: f.change(3), lambda: f.change({}))
        raises(lambda: f.change({"unknown": 1}))
        plan.free()
        raises(lambda: plan.run(x))
        y = np.zeros(64)
        assert f.read(a, y) == 512 and (x == y).all()
    for call in (lambda: f.write(a, x), f.size, f.stats, f.sync, f.explain, lambda: f.plan_read(a)):
        raises(call)
    f.close()
    refused(comm, culprit, lambda: File(comm, 7), lambda: File(comm, path), TypeError)
    refused(comm, culprit, lambda: File(comm, path, "q"), lambda: File(comm, path), ValueError)
    refused(comm, culprit, lambda: File(comm, path, options=3), lambda: File(comm, path), TypeError)
    refused(comm, culprit, lambda: File(comm, path + ".none"), lambda: File(comm, path + ".none"))
    for comm_ in ("world", 1.5, True, 2 ** 40, [comm]):
        raises(lambda c=comm_: File(c, path), TypeError, tutti.Error)
    raises(lambda: tutti.Options(unknown=1))
    raises(lambda: tutti.Options().unknown, AttributeError)


def test_callbacks(comm, rng, path):
    """An exception in a callback on one rank is raised by the call on this rank; the bytes are written."""
    culprit = int(rng.integers(comm.size))
    n = 1 << 16
    a = Access.vector(comm.rank * 64, n // 64, 64, 64 * comm.size)
    x = np.full(n, comm.rank + 1, np.uint8)
    with File(comm, path, "w+", {"method": "two-phase", "window_size": "4k"}) as f:
        calls = []

        def progress(*_):
            calls.append(1)
            if comm.rank == culprit:
                raise KeyError("mine")

        f.on_progress(progress)
        try:
            f.write(a, x)
            raised = False
        except KeyError:
            raised = True
        assert raised == (comm.rank == culprit and bool(calls))
        f.on_progress(None)
        y = np.zeros_like(x)
        f.read(a, y)
        assert (x == y).all()


def test_arrays(comm, rng, path):
    culprit = int(rng.integers(comm.size))
    good = np.zeros((2, 6))
    with Array.create(comm, path, (8, 6), "f8") as a:
        bad = [(np.s_[:2], good.astype("f4")), (np.s_[:2], np.zeros((3, 6))), (np.s_[:2], np.broadcast_to(0.0, (2, 6))),
               (np.s_[::-1], np.zeros((8, 6))), (np.s_[9], np.zeros(6)), (np.s_[0, 0, 0], 1.0), (np.s_[[1, 2]], good),
               (np.s_["x"], good), (np.s_[:2], "text"), (np.s_[:2], good[::-1]), (np.s_[:2], 1j), (np.s_[:2], None)]
        for key, value in bad:
            refused(comm, culprit, lambda: a.write(key, value), lambda: a.write(np.s_[:2], good))
        refused(comm, culprit, lambda: a.write_start(np.s_[9], good).wait(), lambda: a.write_start(np.s_[:2], good).wait())
        refused(comm, culprit, lambda: a.read(np.s_[:2], good.astype("i4")), lambda: a.read(np.s_[:2]))
        refused(comm, culprit, lambda: a.read(np.s_[:2], np.zeros((2, 7))), lambda: a.read(np.s_[:2]))
        refused(comm, culprit, lambda: a.fill("x"), lambda: a.fill(1))
        refused(comm, culprit, lambda: a.prefetch("x"), lambda: a.prefetch(np.s_[:1]))
        refused(comm, culprit, lambda: a.copy_to(None, 1 << 16), lambda: a.copy_to(a, 1 << 16))
        d = Distribution((8, 6), ("block", comm.size), "none")
        mine = np.zeros(d.part(comm.rank))
        refused(comm, culprit, lambda: a.write_part(d, np.zeros((1, 1))), lambda: a.write_part(d, mine))
        refused(comm, culprit, lambda: a.write_part(None, mine), lambda: a.write_part(d, mine))
        refused(comm, culprit, lambda: a.tiles(budget=1.5), lambda: a.tiles(budget=1 << 16).end())
        raises(lambda: a[0])
        raises(lambda: a.__setitem__(0, 1.0))
        raises(lambda: tutti.Tiles(None, None, budget=1), TypeError)
        a.fill(3.0)

        def block(fails):
            with a.collective():
                a[comm.rank] = 5.0
                if fails:
                    raise ZeroDivisionError("left the block")

        refused(comm, culprit, lambda: block(True), lambda: block(False), ZeroDivisionError, block=True)
        refused(comm, culprit, lambda: _assign(a, np.zeros(3)), lambda: block(False), ValueError, block=True)
        assert (a.read() == 3).all()

        def walk(fails):
            with a.tiles(budget=1 << 16, tile=(1, 6)) as tiles:
                for i, _ in enumerate(tiles):
                    if fails and i == 2:
                        raise tutti.Error(11, "left the iteration")

        if comm.size > 1:
            told = 0
            try:
                walk(comm.rank == culprit)
            except tutti.Error:
                told = 1
            assert comm.allgather(told) == [1] * comm.size
        d.free()
        raises(lambda: d.ranks)
    raises(lambda: a.read())
    raises(lambda: a.file)
    raises(lambda: Array(), TypeError)
    raises(lambda: Distribution((4,), "rows"), ValueError)
    raises(lambda: Distribution((4,), ("block", 0)))
    raises(lambda: Distribution((4,), ("ragged", [0, 5])))
    refused(comm, culprit, lambda: Array.create(comm, path, (2, 2), "U3"), lambda: Array.create(comm, path, (2, 2), "f8"))
    refused(comm, culprit, lambda: Array.open(comm, None), lambda: Array.open(comm, path))


def _wait(plan, start):
    start()
    plan.wait()


def _assign(a, value):
    with a.collective():
        a[0] = value


def test_kept_tiles(comm, path):
    """Keeping an array in memory of the library after its tile has ended is an error."""
    with Array.create(comm, path, (4, 3), "f8") as a:
        kept = []
        try:
            with a.tiles(a, budget=1 << 16, tile=(1, 3), of=np.s_[:] if comm.rank == 0 else np.s_[:0], copy=False) as tiles:
                for tile in tiles:
                    kept.append(tile.output)
        except tutti.Error as error:
            assert error.name in ("TUTTI_ERR_STATE", "TUTTI_ERR_MISMATCH")
        else:
            raise AssertionError("released memory could be read")
        kept.clear()
        a.fill(1)


def left(comm, culprit, block, leave, ways):
    """One rank leaves a block by an exception or by a refused call, while all other ranks make other calls."""
    for name, way in ways.items():
        for leaves in (leave, lambda: [].index(name)):
            raised = None
            try:
                with block():
                    (leaves if comm.rank == culprit else way)()
            except (tutti.Error, ValueError, TypeError) as error:
                raised = error
            told = comm.allgather(int(raised is not None))
            assert told[culprit] and (all(told) or name == "discard"), name  # ranks that discarded the step explicitly get no error


def quietly(*calls):
    """Make these calls and ignore their errors."""
    for call in calls:
        try:
            call()
        except (tutti.Error, TypeError, ValueError):
            pass


def test_blocks(comm, rng, path):
    """No rank waits for a rank that has left a block, and nothing of the block is stored."""
    if comm.size == 1:
        return
    culprit = int(rng.integers(comm.size))
    x = np.arange(4.)
    with Dataset(comm, path, "rw", level="visible") as d:
        d.grid("g", (4 * comm.size,))
        d.variable("x", "g", "f8")
        rows = d.decomposition("g", slice=np.s_[4 * comm.rank:4 * comm.rank + 4])
        left(comm, culprit, lambda: d.state(0, 0.0), lambda: d.put(rows, x="text"), {
            "nothing": lambda: None,
            "put": lambda: d.put(rows, x=x),
            "put, refused": lambda: d.put(rows, x=x[:3].copy()),
            "put, refused, and another": lambda: quietly(lambda: d.put(rows, unknown=x), lambda: d.put(rows, x=x)),
            "put fails, and the commit is refused": lambda: quietly(*[lambda: d.put(None, x=x)] * 6),
            "started": lambda: d.put_start(rows, x=x),
            "begin, refused": lambda: d.begin("state", 9, 9.0),
            "decomposition": lambda: d.decomposition("g", n=1),
            "decomposition, refused": lambda: d.decomposition("g", index=[-1]),
            "get, refused": lambda: d.get(0, rows, "x"),
            "info": lambda: d.set_info("a", 1),
            "info, refused": lambda: d.set_info("a", object()),
            "discard": d.discard,
            "commit": d.commit,
        })

        def started(more):
            d.put_start(rows, x=x)
            more()

        left(comm, culprit, lambda: d.state(0, 0.0), lambda: started(lambda: d.put(rows, x="text")), {
            "started and left": lambda: started(lambda: None),
            "started and refused": lambda: started(lambda: d.put(None, x=x))})
        assert len(d) == 0
        with d.state(0, 0.0):
            d.put(rows, x=x)
        np.testing.assert_array_equal(d.get(0, rows, "x"), x)
    with Exodus.create(comm, path + ".e", level="visible") as e:
        e.init(dims=1)
        e.define(kind="element block", id=1, topology="BAR2")
        e.variables("nodal", ["x"])
        e.put_mesh(node_ids=comm.rank + np.arange(1, 3), coordinates=[comm.rank + np.arange(2.)],
                   blocks=[dict(ids=[comm.rank + 1], nodes=[[0, 1]])])
        x = np.arange(2.)
        left(comm, culprit, lambda: e.step(1.0), lambda: e.put(x="text"), {
            "nothing": lambda: None,
            "put": lambda: e.put(x=x),
            "put, refused": lambda: e.put(x=np.zeros(3)),
            "put fails, and the commit is refused": lambda: quietly(*[lambda: e.put(y=x)] * 6),
            "started": lambda: e.put_start(x=x),
            "begin, refused": lambda: e.begin(0.0),
            "decomposition": lambda: e.decomposition(n=1),
            "decomposition, refused": lambda: e.decomposition(index=[-1]),
            "get, refused": lambda: e.get(1, "x"),
            "arrays": lambda: e.get_arrays([dict(array_kind="ids")]),
            "note, refused": lambda: e.notes.__setitem__("a", object()),
            "discard": e.discard,
            "commit": e.commit,
        })
        assert e.steps == 0
        with e.step(1.0):
            e.put(x=x + comm.rank)
        np.testing.assert_array_equal(e.get(1, "x"), x + comm.rank)


def test_datasets(comm, rng, path):
    culprit = int(rng.integers(comm.size))
    with Dataset(comm, path, "rw", level="visible") as d:
        refused(comm, culprit, lambda: d.grid("g", (2 ** 70,)), lambda: d.grid("g", (4 * comm.size,)))
        d.grid("g", (4 * comm.size,))
        refused(comm, culprit, lambda: d.variable("x", "g", "U3"), lambda: d.variable("x", "g", "f8"))
        refused(comm, culprit, lambda: d.variable("x", 3), lambda: d.variable("x", "g", "f8"))
        d.variable("x", "g", "f8")
        rows = d.decomposition("g", slice=np.s_[4 * comm.rank:4 * comm.rank + 4])
        for bad in (dict(slice="x"), dict(index=[-1]), dict(index=[0.5]), dict(), dict(n=1, slice=0), dict(index=[[0]])):
            refused(comm, culprit, lambda: d.decomposition("g", **bad), lambda: d.decomposition("g", n=1))
        x = np.arange(4.)
        gone = d.decomposition("g", slice=np.s_[4 * comm.rank:4 * comm.rank + 4])
        gone.free()
        raises(lambda: gone.entries)
        d.begin("state", 0, 0.0)
        for entries, value in ((rows, x[:3].copy()), (rows, x[::-1]), (rows, [1, 2, 3, 4]), (rows, x.astype("U4")), (None, x),
                               (gone, x), (rows, x.astype(">f8"))):
            refused(comm, culprit, lambda: d.put(entries, x=value), lambda: d.put(rows, x=x))
            refused(comm, culprit, lambda: d.put_start(entries, x=value).wait(), lambda: d.put_start(rows, x=x).wait())
        refused(comm, culprit, lambda: waits_later(comm, d.put_start, rows, {"x": x[:3].copy()}),
                lambda: waits_later(comm, d.put_start, rows, {"x": x}), ValueError)
        refused(comm, culprit, lambda: d.put(rows, unknown=x), lambda: d.put(rows, x=x))
        d.discard()

        def state(fails):
            with d.state(0, 0.0):
                if fails == 1:
                    raise tutti.Error(11, "before the put")
                d.put(rows, x=x)
                if fails == 2:
                    raise tutti.Error(11, "after it")

        for how in (1, 2):
            if comm.size > 1:
                told = 0
                try:
                    state(how if comm.rank == culprit else 0)
                except tutti.Error:
                    told = 1
                assert comm.allgather(told) == [1] * comm.size
            assert len(d) == 0
        state(0)
        refused(comm, culprit, lambda: d.get(0, None, "x"), lambda: d.get(0, rows, "x"))
        refused(comm, culprit, lambda: d.get(0, rows, "x", out={"x": np.zeros(3)}), lambda: d.get(0, rows, "x"))
        refused(comm, culprit, lambda: d.get("x", rows, "x"), lambda: d.get(0, rows, "x"))
        refused(comm, culprit, lambda: d.erase_after("x"), lambda: d.erase_after(0))
        refused(comm, culprit, lambda: d.drop_oldest("x"), lambda: d.drop_oldest(1))
        refused(comm, culprit, lambda: d.verify_segment("x"), lambda: d.verify_segment(0))
        refused(comm, culprit, lambda: d.begin("state", "x", 0.0), lambda: d.begin("state", 7, 0.0))
        refused(comm, culprit, lambda: d.follow(0, 0, None, "x"), lambda: d.follow(0, 0, rows, "x"))
        refused(comm, culprit, lambda: d.set_info("a", object()), lambda: d.set_info("a", 1))
        raises(lambda: d.info("unknown"))
        raises(lambda: d.find(index=99))
        raises(lambda: d.begin("x", 0, 0.0))

        class Breaks(io.BytesIO):
            def write(self, data):
                raise OSError(28, "no space")

        try:
            d.archive_stream(0, 0, Breaks())
        except tutti.Error as error:
            assert comm.rank or isinstance(error.__cause__, OSError)
        else:
            raise AssertionError("a failing stream raised no error")
        np.testing.assert_array_equal(d.get(0, rows, "x"), x)
    raises(lambda: d.verify())
    refused(comm, culprit, lambda: Dataset(comm, path, level="x"), lambda: Dataset(comm, path), ValueError)


def test_meshes(comm, rng, path):
    culprit = int(rng.integers(comm.size))
    refused(comm, culprit, lambda: Replicas(comm, [[1]]), lambda: Replicas(comm, [1]), ValueError)
    refused(comm, culprit, lambda: Replicas(comm, [1], load=[1, 2]), lambda: Replicas(comm, [1]), ValueError)
    refused(comm, culprit, lambda: Replicas(comm, [1], rule="x"), lambda: Replicas(comm, [1]))
    r = Replicas(comm, np.arange(5))
    x = np.zeros(5)
    with File(comm, path, "w+") as f:
        refused(comm, culprit, lambda: r.write(f, 0, x[:2]), lambda: r.write(f, 0, x))
        r.write(f, 0, x)
        refused(comm, culprit, lambda: r.read(f, 0, x[:2]), lambda: r.read(f, 0, x))
        refused(comm, culprit, lambda: r.check(x[:2]), lambda: r.check(x))
    r.free()
    raises(lambda: r.positions)
    xyz, types, start, node = squares(3)
    if comm.rank:
        xyz, types, start, node = xyz[:0], types[:0], start[:1], node[:0]
    refused(comm, culprit, lambda: Mesh.make(comm, xyz, types, [3], node), lambda: Mesh.make(comm, xyz, types, start, node))
    refused(comm, culprit, lambda: Mesh.open(comm, None), lambda: Mesh.open(comm, path))
    with Mesh.make(comm, xyz, types, start, node) as m:
        of = m.partition(comm.size)
        refused(comm, culprit, lambda: m.partition("x"), lambda: m.partition(comm.size))
        refused(comm, culprit, lambda: m.partition(comm.size, load=[1.5]), lambda: m.partition(comm.size))
        refused(comm, culprit, lambda: m.cut(comm.size, [1] * 99), lambda: m.cut(comm.size, of))
        refused(comm, culprit, lambda: m.classify("x"), lambda: m.classify(of))
        refused(comm, culprit, lambda: m.renumber("x"), lambda: m.renumber("curve"))
        refused(comm, culprit, lambda: m.write(None), lambda: m.write(path))
        refused(comm, culprit, lambda: m.part([99] * 99), lambda: m.part(of))
        part = m.part(m.partition(comm.size))
    refused(comm, culprit, lambda: part.exchange(np.zeros(1, "f4")), lambda: part.exchange(np.zeros(part.nodes)))
    part.exchange(np.zeros(part.nodes))
    part.free()
    raises(lambda: m.view())


def test_errors():
    error = tutti.Error(tutti.ERR_NO_SPACE, "full", rank=3, file="a", offset=7)
    again = pickle.loads(pickle.dumps(error))
    assert (again.code, again.name, again.rank, again.file, again.offset) == (-2, "TUTTI_ERR_NO_SPACE", 3, "a", 7)
