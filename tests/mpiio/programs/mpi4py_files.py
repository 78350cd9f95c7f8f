"""mpi4py_files.py FILE: makes all kinds of calls of MPI.File, with every kind of buffer that mpi4py accepts.

Ranks interleave blocks of integers; all counts, file pointers and integers are checked.  Uses only mpi4py.
SPDX-License-Identifier: BSD-3-Clause"""
import sys
from array import array
from mpi4py import MPI

world = MPI.COMM_WORLD
me, ranks = world.rank, world.size
BLOCK, BLOCKS = 6, 7
INTS = BLOCK * BLOCKS


def expect(condition, what):
    if not condition:
        print(f"rank {me}: {what}", file=sys.stderr)
        world.Abort(1)


def count(status, wanted, what):
    expect(status.Get_count(MPI.INT) == wanted, f"{what}: {status.Get_count(MPI.INT)}, not {wanted}")


def sync(f):
    f.Sync()
    world.Barrier()
    f.Sync()


def interleave(f):
    """Set a view that contains the blocks of this rank."""
    filetype = MPI.INT.Create_vector(BLOCKS, BLOCK, BLOCK * ranks)
    filetype.Commit()
    f.Set_view(4 * BLOCK * me, MPI.INT, filetype)
    filetype.Free()


def write(f, mine):
    view = memoryview(mine).cast("B")
    status = MPI.Status()

    def block(i):
        return view[4 * BLOCK * i:4 * BLOCK * (i + 1)], BLOCK, MPI.INT

    f.Write_at(0, block(0), status)
    count(status, BLOCK, "Write_at")
    f.Write_at_all(BLOCK, block(1), status)
    count(status, BLOCK, "Write_at_all")
    f.Seek(2 * BLOCK)
    f.Write(block(2), status)
    count(status, BLOCK, "Write")
    f.Write_all(block(3), status)
    expect(f.Get_position() == 4 * BLOCK, "position")
    first = f.Iwrite_at(4 * BLOCK, block(4))
    second = f.Iwrite_at_all(5 * BLOCK, block(5))
    MPI.Request.Waitall([second, first])
    f.Write_at_all_begin(6 * BLOCK, block(6))
    f.Write_at_all_end(block(6)[0], status)
    count(status, BLOCK, "Write_at_all_end")


def read(f, mine):
    status = MPI.Status()
    for name in ("Read_at", "Read_at_all", "Iread_at", "Iread_at_all", "Read_all", "Iread", "Read_all_begin"):
        into = array("i", [0] * INTS)
        if "_at" in name:
            done = getattr(f, name)(0, [into, MPI.INT], *([] if name[0] == "I" else [status]))
        elif name == "Read_all_begin":
            f.Seek(0)
            f.Read_all_begin([into, MPI.INT])
            done = f.Read_all_end([into, MPI.INT], status)
        else:
            f.Seek(0)
            done = getattr(f, name)([into, MPI.INT], *([] if name[0] == "I" else [status]))
        if done is not None:
            done.Wait(status)
        count(status, INTS, name)
        expect(into == mine, f"{name}: wrong integers")
    # read beyond the end of the file: only one block exists
    into = array("i", [-1] * INTS)
    f.Read_at((BLOCKS - 1) * BLOCK, [into, MPI.INT], status)
    expect(into[:BLOCK] == mine[-BLOCK:], "Read_at over the end")


def shared(f):
    """Check calls with the shared pointer after the existing data: ordered, and one rank after the other."""
    f.Set_view(4 * INTS * ranks, MPI.INT)
    line = array("i", [me, 10 * me])
    f.Write_ordered([line, MPI.INT])
    f.Write_ordered_begin([line, MPI.INT])
    f.Write_ordered_end([line, MPI.INT])
    for turn in range(ranks):
        if turn == me:
            f.Write_shared([line, MPI.INT])
        world.Barrier()
    expect(f.Get_position_shared() == 6 * ranks, "shared position")
    sync(f)
    f.Seek_shared(2 * ranks)
    into = array("i", [0, 0])
    f.Read_ordered([into, MPI.INT])
    expect(into == line, "Read_ordered")


def ask(f, path):
    expect(f.Get_amode() == MPI.MODE_CREATE | MPI.MODE_RDWR, "amode")
    expect(f.Get_group().size == ranks, "group")
    expect(f.Get_size() == 4 * (INTS + 6) * ranks, "size")
    f.Set_atomicity(True)
    expect(f.Get_atomicity(), "atomicity")
    f.Set_atomicity(False)
    displacement, etype, filetype, rep = f.Get_view()
    expect(displacement == 4 * INTS * ranks and rep == "native", "view")
    expect(filetype.size == 4 and etype.size == 4, "types of the view")
    expect(f.Get_byte_offset(3) == 4 * INTS * ranks + 12, "byte offset")
    f.Get_info().Free()
    try:
        MPI.File.Open(world, path + ".absent", MPI.MODE_RDONLY)
        expect(False, "an absent file opens")
    except MPI.Exception as e:
        expect(e.Get_error_class() == MPI.ERR_NO_SUCH_FILE, "class of an absent file")


def main():
    path = sys.argv[1]
    mine = array("i", range(1000 * me, 1000 * me + INTS))
    f = MPI.File.Open(world, path, MPI.MODE_CREATE | MPI.MODE_RDWR)
    f.Set_size(0)
    interleave(f)
    write(f, mine)
    sync(f)
    read(f, mine)
    shared(f)
    ask(f, path)
    f.Close()


main()
