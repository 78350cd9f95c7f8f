#!/bin/sh
# TEST ranks=0 timeout=120
# tutti export --zarr: Zarr reads the values that tutti dump prints: compressed and not, all types, both byte orders,
# padded chunks, several topologies; cp --compress, ls, show and verify of compressed variables; a damaged chunk.
# SPDX-License-Identifier: BSD-3-Clause
set -u
here=$(cd "$(dirname "$0")/../.." && pwd)
for python in python3 /usr/bin/python3 none; do
    $python -c 'import fsspec, numcodecs, numpy, zarr' 2>/dev/null && break
done
[ "$python" != none ] || { echo 'no python3-zarr, python3-fsspec or python3-numcodecs'; exit 77; }
bad=0
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_ess_singleton_isolated=1
cd "$TUTTI_TEST_DIR" || exit 1
mpicc=$(sed -n 's/^TUTTI_MPICC:[^=]*=//p' "$TUTTI_BUILD_DIR/CMakeCache.txt")
for program in dataset_writer zarr_writer; do
    "$mpicc" -std=gnu11 -Wall -Wextra -Werror -I"$here/include" "$here/tests/cli/$program.c" -o $program \
        -L"$TUTTI_BUILD_DIR" -ltutti -lm -Wl,-rpath,"$TUTTI_BUILD_DIR" || exit 1
done

# run TEXT arguments...: check that the command succeeds and that its output contains TEXT
run() {
    text=$1
    shift
    if ! "$TUTTI_COMMAND" "$@" >out 2>&1 </dev/null || { [ -n "$text" ] && ! grep -qF -e "$text" out; }; then
        echo "tutti $*: failed, or without '$text':"
        cat out
        bad=1
    fi
}

# compare DATASET JSON: check that every array equals the output of tutti dump
compare() {
    TUTTI_COMMAND=$TUTTI_COMMAND $python - "$1" "$2" <<'END' || bad=1
import json, os, subprocess, sys
import fsspec, numpy as np, zarr

def tutti(*arguments):
    subprocess.run([os.environ["TUTTI_COMMAND"], *arguments], check=True, stdin=subprocess.DEVNULL)

path, references = sys.argv[1:]
refs = json.load(open(references))
assert refs["version"] == 1
assert all(not v[0].startswith("/") for v in refs["refs"].values() if isinstance(v, list)), "absolute names"
group = zarr.open(fsspec.filesystem("reference", fo=refs, remote_protocol="file").get_mapper(""), mode="r")
ls = json.loads(subprocess.run([os.environ["TUTTI_COMMAND"], "ls", "--json", path], check=True, capture_output=True,
                               stdin=subprocess.DEVNULL).stdout)
variables = {v["name"]: v for v in ls["variables"]}
compared = 0
for name, part in [("", group)] if list(group.arrays()) else list(group.groups()):
    for variable, array in part.arrays():
        attributes = array.attrs.asdict()
        dimensions = attributes["_ARRAY_DIMENSIONS"]
        assert len(dimensions) == array.ndim, attributes
        if variable.split("_")[0] in ("time", "index"):
            continue
        have = [s for s in ls["segments"] if variable in s["variables"] and name in ("", "topology_%s" % s["topology"])]
        of = variables[variable]
        assert attributes.get("units", "") == of["units"] and attributes.get("long_name", "") == of["long_name"]
        if dimensions[0].startswith("time"):
            assert list(part[dimensions[0]][:]) == [s["time"] for s in have], variable
            assert list(part[dimensions[0].replace("time", "index")][:]) == [s["index"] for s in have], variable
        for chosen in [have] if name == "" and len(have) > 1 else [[s] for s in have]:
            number = "all" if len(chosen) > 1 else str(chosen[0]["number"])
            tutti("dump", path, "-v", variable, "-s", number, "--as", "npy", "-o", "x.npy")
            want = np.load("x.npy")
            got = array[:]
            if dimensions[0].startswith("time") and len(chosen) == 1:
                got = got[have.index(chosen[0])]
            assert array.dtype.kind == want.dtype.kind and got.shape == want.shape, (variable, array.dtype, want.dtype)
            assert np.array_equal(got, want.astype(array.dtype)), (variable, number)
            compared += len(chosen)
print(compared)
END
}

./zarr_writer run </dev/null || exit 1
run run.json export run --zarr
grep -qF "'ranked' is left out" out || { echo 'not a word of the ranked one'; bad=1; }
compare run run.json >n
[ "$(cat n)" = 39 ] || { echo "$(cat n) sections compared"; bad=1; }
$python - <<'END' || bad=1
import json
refs = json.load(open("run.json"))["refs"]
smooth = json.loads(refs["smooth/.zarray"])
assert smooth["shape"] == [3, 700, 501] and smooth["chunks"] == [1, 234, 501], smooth
assert smooth["compressor"]["id"] == "zstd" and smooth["filters"][0]["elementsize"] == 8, smooth
assert json.loads(refs["big/.zarray"])["dtype"] == ">f4" and json.loads(refs["plain/.zarray"])["dtype"] == ">i2"
assert json.loads(refs["bytes/.zarray"])["filters"] is None
assert json.loads(refs["flow/.zarray"])["compressor"] is None and refs["flow/1.0.0"][2] == 100001 * 16
assert json.loads(refs["mesh/.zarray"])["shape"] == [100001] and json.loads(refs["late/.zarray"])["fill_value"] == -7
assert json.loads(refs["late/.zarray"])["shape"][0] == 2 and "time_1/0" in refs and "time_2/0" not in refs
assert refs["late/1.0.0"][0] == "run/data-000001.tutti"
END

# An uncompressed copy has the same values.  Variables of changing size are exported in the directory of the dataset.
run '' cp run plain --compress 0 -v smooth,wave
run '' diff run plain -v smooth,wave
./dataset_writer mesh </dev/null || exit 1
run '' cp mesh packed --compress 3 --layout global
run '' diff mesh packed
for of in mesh packed; do
    want=17
    [ $of = packed ] || want=13
    (cd $of && "$TUTTI_COMMAND" export . --zarr -o ../$of-all.json >/dev/null 2>&1) && grep -qF "[\"$of/data-000001.tutti\"" $of-all.json || bad=1
    compare $of $of-all.json >n
    [ "$(cat n)" = $want ] || { echo "$of: $(cat n) sections compared"; bad=1; }
done
# ---- output of the other commands
run 'compressed, level 1: 8.0 MiB as numbers' ls run
run 'smooth:_Compress = 1 ; // ' show run
run 'run: ok' verify run
run "'smooth' is omitted: it is compressed" export run --xdmf
"$TUTTI_COMMAND" ls --json run | $python -c '
import json, sys
v = json.load(sys.stdin)["variables"][0]
sys.exit(not (v["raw_bytes"] == 3 * 700 * 501 * 8 and v["raw_bytes"] > 1.1 * v["bytes"] and v["compress"] == 1))' || bad=1
"$here/scripts/mpirun.sh" "$TUTTI_MPI" 3 "$TUTTI_COMMAND" verify run >out 2>&1 || { cat out; bad=1; }
# damage a byte in the middle of the last section of "smooth" and remove the checksum of the section, so that the zstd
# frame detects the damage
$python - <<'END'
import sqlite3
d = sqlite3.connect("run/metadata.sqlite")
start, count = d.execute("SELECT start, bytes FROM sections WHERE variable = (SELECT id FROM variables WHERE name = 'smooth')"
                         " ORDER BY segment DESC LIMIT 1").fetchone()
d.execute("UPDATE sections SET sum = NULL")
d.commit()
with open("run/data-000001.tutti", "r+b") as f:
    f.seek(start + count // 2)
    byte = f.read(1)[0]
    f.seek(start + count // 2)
    f.write(bytes([byte ^ 16]))
END
"$TUTTI_COMMAND" verify run >out 2>&1 </dev/null
if [ $? -ne 1 ] || ! grep -qF "variable 'smooth' in segment 3, chunk 1: " out; then
    cat out
    bad=1
fi
"$TUTTI_COMMAND" dump run -v smooth -s 3 >out 2>&1 </dev/null && { echo 'a damaged chunk was shown'; bad=1; }
"$TUTTI_COMMAND" dump run -v smooth -s 3 --slice 0:200,: >out 2>&1 </dev/null || { echo 'the others are not read'; tail -1 out; bad=1; }
exit $bad
