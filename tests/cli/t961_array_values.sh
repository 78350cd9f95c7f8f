#!/bin/sh
# TEST ranks=0 timeout=180 builds=mpich,asan cores=2
# Values of tutti array on 1 and 3 ranks and with small budgets, compared with values computed by Python: text and CSV
# of sections, NumPy files read and written, transposition by every order of the dimensions, statistics, pictures.
# SPDX-License-Identifier: BSD-3-Clause
set -u
here=$(cd "$(dirname "$0")/../.." && pwd)
mpi=$(sed -n 's/^TUTTI_MPI:[^=]*=//p' "$TUTTI_BUILD_DIR/CMakeCache.txt")
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
cd "$TUTTI_TEST_DIR" || exit 1
python=python3
for other in python3 /usr/bin/python3; do # the interpreter that has NumPy, if any
    "$other" -c 'import numpy' 2>/dev/null && python=$other && break
done
MPIRUN="$here/scripts/mpirun.sh $mpi" "$python" - <<'END'
import ast, itertools, json, math, os, random, struct, subprocess, sys, zlib

try:
    import numpy
except ImportError:
    numpy = None
rng = random.Random(5)
COMMAND = os.environ["TUTTI_COMMAND"]
MPIRUN = os.environ["MPIRUN"].split()
SLOW = os.environ.get("TUTTI_SANITIZE")  # starts are slow: run each kind of command once
failures = 0


def run(*args, ranks=1, stdin=None):
    """Return the standard output of a command that must succeed, with the same output on several ranks."""
    start = [] if ranks == 1 else MPIRUN + [str(ranks)]
    p = subprocess.run(start + [COMMAND, "array"] + [str(a) for a in args], input=stdin, capture_output=True, text=True)
    check(p.returncode == 0, args, p.returncode, p.stdout, p.stderr)
    return p.stdout


def check(holds, *what):
    global failures
    if not holds:
        failures += 1
        print("wrong:", *what, file=sys.stderr)


# ---- arrays as dictionaries from indices to values

def indices(shape):
    return itertools.product(*[range(n) for n in shape])


def in_order(shape, fortran):
    """Return all indices in the order of a file."""
    if not fortran:
        return list(indices(shape))
    return [i[::-1] for i in indices(shape[::-1])]


CODES = {"int16": "h", "uint8": "B", "int64": "q", "uint64": "Q", "float16": "e", "float32": "f", "float64": "d", "complex128": "dd"}
DESCR = {"int16": "i2", "uint8": "u1", "int64": "i8", "uint64": "u8", "float16": "f2", "float32": "f4", "float64": "f8", "complex128": "c16"}


def parts(value):
    return (value.real, value.imag) if isinstance(value, complex) else (value,)


def npy_write(path, a, shape, kind, fortran=False, order="<", version=1):
    code, descr = CODES[kind], ("|" if DESCR[kind] == "u1" else order) + DESCR[kind]
    text = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {tuple(shape)}, }}"
    head = 10 if version == 1 else 12
    text += " " * (63 - (head + len(text)) % 64) + "\n"
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY" + bytes([version, 0]) + length + text.encode())
        for i in in_order(shape, fortran):
            f.write(struct.pack(order + code, *parts(a[i])))


def npy_read(path):
    with open(path, "rb") as f:
        data = f.read()
    assert data[:8] == b"\x93NUMPY\x01\x00"
    start = 10 + struct.unpack("<H", data[8:10])[0]
    assert start % 64 == 0
    h = ast.literal_eval(data[10:start].decode())
    kind = next(k for k, d in DESCR.items() if d == h["descr"][1:])
    code, shape, a = CODES[kind], h["shape"], {}
    size = struct.calcsize("<" + code)
    for n, i in enumerate(in_order(shape, h["fortran_order"])):
        v = struct.unpack_from("<" + code, data, start + n * size)
        a[i] = complex(*v) if len(v) == 2 else v[0]
    assert len(data) == start + size * math.prod(shape), path
    if numpy:
        b = numpy.load(path)
        check(b.shape == shape and bool(b.flags.f_contiguous or not h["fortran_order"]), path, b.shape, b.flags)
        check(all(same(b[i].item(), a[i]) for i in indices(shape)), path, "NumPy reads something else")
    return a, shape, h["fortran_order"]


def same(x, y):
    return x == y or (x != x and y != y)


def equal(a, b):
    return a.keys() == b.keys() and all(same(a[i], b[i]) for i in a)


def some_value(kind):
    if kind == "complex128":
        return complex(rng.gauss(0, 1), rng.gauss(0, 1))
    if kind.startswith("float"):
        x = rng.choice([rng.gauss(0, 100), float(rng.randrange(9)), math.nan])
        return struct.unpack(CODES[kind], struct.pack(CODES[kind], x))[0]
    bits = int(kind.lstrip("uint"))
    return rng.getrandbits(bits) - (0 if kind[0] == "u" else 1 << bits - 1)


def some_array(shape, kind):
    return {i: some_value(kind) for i in indices(shape)}


def taken(a, shape, section):
    """Return the elements of a section with indices relative to the section."""
    axes = [range(*slice(*s).indices(n)) for s, n in zip(section, shape)]
    new = tuple(len(x) for x in axes)
    return {i: a[tuple(x[k] for x, k in zip(axes, i))] for i in indices(new)}, new


def section_text(section, fortran=False):
    return ",".join(f"{lo + fortran}:{hi}:{step}" for lo, hi, step in section)


def some_section(shape):
    section = []
    for n in shape:
        lo = rng.randrange(n)
        section.append((lo, rng.randrange(lo + 1, n + 1), 1 + rng.randrange(3)))
    return section


def parse(word, kind):
    if kind == "complex128":
        return complex(word)
    if kind.startswith("float"):  # the fewest digits that identify the number
        return struct.unpack(CODES[kind], struct.pack(CODES[kind], float(word)))[0]
    return int(word)


# ---- NumPy files and CSV, read and written, in all types
CASES = [("int16", (7,), True, ">", 1), ("float64", (40, 30), True, "<", 2), ("uint64", (5, 3, 4), False, ">", 1),
         ("complex128", (6, 5), False, ">", 1), ("float32", (9, 2, 3, 2), True, "<", 3), ("float16", (7, 6), False, ">", 1),
         ("uint8", (3, 50), False, "<", 2)]
if SLOW:
    CASES = CASES[1:3]
for n, (kind, shape, fortran, order, version) in enumerate(CASES):
    a, ranks = some_array(shape, kind), 3 if n % 2 else 1
    npy_write("in.npy", a, shape, kind, fortran, order, version)
    run("write", "a", "--create", "--force", "--from", "in.npy", "--budget", "4k", ranks=ranks)
    section = some_section(shape)
    b, new = taken(a, shape, section)
    out = run("read", "a", section_text(section), "--npy", "out.npy", "--csv", "--budget", "4k", ranks=4 - ranks)
    got, got_shape, got_order = npy_read("out.npy")
    check(got_shape == new and equal(got, b) and got_order == fortran, kind, shape, section, "npy")
    lines = [line.split(",") for line in out.splitlines()]
    words = [w for line in lines for w in line]
    check(len(words) == len(b) and all(same(parse(w, kind), b[i]) for w, i in zip(words, indices(new))), kind, "csv", out)
    check(len(new) == 1 or all(len(line) == new[-1] for line in lines), kind, "rows", out)

# ---- text written to a section changes no other elements
shape, kind = (30, 40), "float64"
a = some_array(shape, kind)
npy_write("in.npy", a, shape, kind)
run("write", "a", "--create", "--force", "--from", "in.npy", "--order", "column")
info = json.loads(run("info", "a", "--json"))
check(info["order"] == "column" and info["shape"] == [30, 40] and info["bytes"] == 9600, info)
section = [(3, 29, 2), (1, 40, 5)]
b, new = taken(a, shape, section)
text = "# a remark, 1 2 3\n" + "\n".join(f"{rng.gauss(0, 1)!r};" if k % 3 else f"{k}," for k in range(len(b)))
values = [float(w.strip(",;")) for w in text.split("\n")[1:]]
open("text", "w").write(text)
run("write", "a", section_text(section, True), "--fortran", "--from", "text", "--budget", "4k", ranks=3)
for k, i in enumerate(indices(new)):
    a[3 + 2 * i[0], 1 + 5 * i[1]] = values[k]
run("read", "a", "--npy", "out.npy")
check(equal(npy_read("out.npy")[0], a), "after writing text")
columns = run("read", "a", "4:6,0:3", "--digits", "3").splitlines()
check([[float(w) for w in line.split()] for line in columns] ==
      [[float(f"{a[i, j]:.3g}") for j in range(3)] for i in (4, 5)] or any(a[i, j] != a[i, j] for i in (4, 5) for j in range(3)),
      columns)

# ---- raw files with an offset
with open("raw", "wb") as f:
    f.write(b"header!" + b"".join(struct.pack("=h", v) for v in range(24)))
raw = ["--raw", "--shape", "2,3,4", "--type", "int16", "--offset", "7"]
out = run("read", "raw", "1,:,1::2", "--out", "printed", *raw)
check(out == "" and open("printed").read() == "# [1, :, :]\n13  15\n17  19\n21  23\n", open("printed").read())
run("write", "raw", "0,0,0:2", "--from", "-", "--order", "row", *raw, stdin="-5 -6")
data = open("raw", "rb").read()
check(data[:7] == b"header!" and struct.unpack("=24h", data[7:]) == (-5, -6, *range(2, 24)), data)

# ---- transposition by every order of three dimensions
shape, kind = (13, 21, 8), "int64"
a = some_array(shape, kind)
npy_write("in.npy", a, shape, kind)
for n, axes in enumerate(itertools.permutations(range(3))):
    if SLOW and n not in (1, 4):
        continue
    to = ["row", "column"][n // 2 % 2]
    run("transpose", "in.npy", "t", "--axes", ",".join(map(str, axes)), "--to-order", to, "--force", "--budget", "4k",
        ranks=1 + n % 3)
    run("read", "t", "--npy", "t.npy")
    got, new, order = npy_read("t.npy")
    check(new == tuple(shape[x] for x in axes) and order == (to == "column") and
          all(got[tuple(i[x] for x in axes)] == a[i] for i in a), "transpose", axes)

# ---- statistics
shape = (50, 60)
a = {i: 1e9 + rng.gauss(0, 1) for i in indices(shape)}
a[7, 8], a[9, 9], a[20, 4] = math.nan, math.inf, 1e9 - 50
npy_write("in.npy", a, shape, "float64", fortran=True)
s = json.loads(run("stat", "in.npy", "--json", "--budget", "4k", ranks=3))
v = [x for x in a.values() if math.isfinite(x)]
mean = math.fsum(v) / len(v)
std = math.sqrt(math.fsum((x - mean) ** 2 for x in v) / len(v))
check(s["elements"] == 3000 and s["nan"] == 1 and s["infinite"] == 1, s)
check(s["min"] == 1e9 - 50 and s["min_at"] == [20, 4] and s["max"] is None and s["max_at"] == [9, 9], s)
check(abs(s["mean"] / mean - 1) < 1e-15 and abs(s["std"] / std - 1) < 1e-12, s, mean, std)
out = run("stat", "in.npy", "0:10:3,::2")
check("elements  120" in out and "NaN       0" in out, out)
if not SLOW:
    a = {i: 2**63 - 1 - i[0] for i in indices((100,))}
    npy_write("in.npy", a, (100,), "int64")
    s = json.loads(run("stat", "in.npy", "--json"))
    check(s["max"] == 2**63 - 1 and s["min"] == 2**63 - 100 and abs(s["std"] - math.sqrt(9999 / 12)) < 1e-9, s)
npy_write("in.npy", {(0,): 3 + 4j, (1,): complex(-1, -2)}, (2,), "complex128")
s = json.loads(run("stat", "in.npy", "--json"))
check(s["mean"] == [1, 1] and s["max"] == 5 and abs(s["std"] - math.sqrt(13)) < 1e-12, s)


# ---- pictures
def png_read(path):
    data = open(path, "rb").read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, []
    while at < len(data):
        n, name = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + n]
        assert struct.unpack(">I", data[at + 8 + n:at + 12 + n])[0] == zlib.crc32(name + body), name
        chunks.append((name, body))
        at += 12 + n
    assert [c[0] for c in chunks[:2]] == [b"IHDR", b"PLTE"] and chunks[-1] == (b"IEND", b"")
    width, height, *rest = struct.unpack(">IIBBBBB", chunks[0][1])
    assert rest == [8, 3, 0, 0, 0], rest
    rows = zlib.decompress(b"".join(c[1] for c in chunks if c[0] == b"IDAT"))
    assert len(rows) == height * (width + 1) and all(rows[y * (width + 1)] == 0 for y in range(height))
    return [rows[y * (width + 1) + 1:(y + 1) * (width + 1)] for y in range(height)], chunks[1][1]


def level(x, lo, hi):
    return 0 if x != x else 1 + max(0, min(252, int((x - lo) / (hi - lo) * 253)))


shape = (20, 33)
a = {i: math.sin(i[0] / 3) * i[1] for i in indices(shape)}
a[3, 4] = math.nan
npy_write("in.npy", a, shape, "float64", fortran=True)
lo, hi = (f(x for x in a.values() if x == x) for f in (min, max))
run("read", "in.npy", "--png", "p.png", "--budget", "4k", ranks=3)
rows, palette = png_read("p.png")
check(len(rows) == 20 and all(rows[i][j] == level(a[i, j], lo, hi) for i, j in a), "picture")
linear = [c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in palette]
light = [sum(w * linear[3 * k + i] for i, w in enumerate((0.2126, 0.7152, 0.0722))) for k in range(1, 254)]
check(len(palette) == 768 and light[-1] - light[0] > 0.8, "colours")
check(all(y > x for x, y in zip(light, light[3:])), "colours get lighter")
check(palette[0] > 2 * max(palette[1], palette[2]), "NaN is red")
run("read", "in.npy", "2:12:5,::4", "--png", "p.png", "--range", "-2,2", "--zoom", "3", "--legend")
rows, palette = png_read("p.png")
check(all(rows[3 * i + 1][3 * j + 2] == level(a[2 + 5 * i, 4 * j], -2, 2) for i in range(2) for j in range(9)), "zoomed")
legend = rows[6:]
check(len(legend) == 24 and legend[4][0] == 1 and legend[4][-1] == 253 and any(255 in r for r in legend[14:]), "legend")
run("read", "in.npy", ":,0:32", "--png", "p.png", "--pixels", "8")
rows, palette = png_read("p.png")
check(len(rows) == 5 and len(rows[0]) == 8, "reduced", len(rows), len(rows[0]))
blocks = [[[a[4 * y + i, 4 * x + j] for i in range(4) for j in range(4) if (4 * y + i, 4 * x + j) != (3, 4)]
           for x in range(8)] for y in range(5)]
lo, hi = (f(a[i, j] for i in range(20) for j in range(32) if a[i, j] == a[i, j]) for f in (min, max))
check(all(abs(rows[y][x] - level(sum(b) / len(b), lo, hi)) <= 1 for y in range(5) for x, b in enumerate(blocks[y])), "means")
sys.exit(1 if failures else 0)
END
