#!/bin/sh
# TEST ranks=0 timeout=120 cores=2
# tutti array: the examples of its manual page; wrong usage and bad files of each kind, which change and leave no
# files; every argument of the page is used by a test.
# SPDX-License-Identifier: BSD-3-Clause
set -u
here=$(cd "$(dirname "$0")/../.." && pwd)
page=$TUTTI_BUILD_DIR/generated/man/tutti-array.1
bad=0
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
cd "$TUTTI_TEST_DIR" || exit 1

# expect CODE TEXT arguments...: check the exit code of the command and that its output contains TEXT
expect() {
    code=$1 text=$2
    shift 2
    "$TUTTI_COMMAND" array "$@" >out 2>&1 </dev/null
    got=$?
    if [ $got -ne "$code" ] || { [ -n "$text" ] && ! grep -qF -e "$text" out; }; then
        echo "tutti array $*: exit code $got (expected $code), without '$text':"
        cat out
        bad=1
    fi
}

# ---- the examples of the manual page, with 2 ranks
sed -n '/^\.SH EXAMPLES/,/^\.fi/p' "$page" | sed -n '/^\./d; s/\\-/-/gp; t; p' |
    sed "s|mpirun -n 4|$here/scripts/mpirun.sh $TUTTI_MPI 2|; s|tutti array|$TUTTI_COMMAND array|" >examples
while read -r line; do
    sh -c "$line" >out 2>&1 </dev/null || {
        echo "$line: exit code $?"
        cat out
        bad=1
    }
done <examples
[ "$(grep -c array examples)" -eq 11 ] || { echo "not 11 examples"; cat examples; bad=1; }
for file in field field.npy copy field.png turned flat; do
    [ -s "$file" ] || { echo "the examples have not made $file"; bad=1; }
done
expect 0 '(600, 400)' info turned
expect 0 '"shape": [400, 600]' info field --json
expect 0 'Usage: [mpirun' --help
expect 0 'Usage: [mpirun' read --help

# ---- wrong usage and invalid sections (t963_array_args.c has all of them)
expect 2 'missing command'
expect 2 'has no header' read flat --raw
expect 2 'method' read field --method fast
expect 1 'dimension 1: indices exceed the extent 600' read field 0,0:601
expect 1 "permutation of 0 to 1" transpose field new --axes 0,0

# ---- files that are not arrays
expect 1 'nowhere' info nowhere
expect 1 'nowhere' info nowhere.npy
expect 1 'array' info examples
expect 1 'has shape (400, 600), expected (400,)' info field --shape 400
expect 1 'elements of type float64 (8 bytes), expected float32' info field --type float32
expect 1 'stored in column order, expected row' read field 0,0 --order row
expect 1 'ends at' read flat --raw --shape 400,601 --type float64
cp examples examples.npy
expect 1 'not a .npy file' read examples.npy
expect 1 'not a .npy file' write field --from examples.npy
expect 1 'is not a valid float64' write field 0,0:3 --from examples
echo 1 2 >two
expect 1 'has only 2 of 3 elements' write field 0,0:3 --from two
expect 1 'more than the 1 elements' write field 0,0 --from two
expect 1 'has shape (400, 600), but the section has shape (1, 3)' write field 0,0:3 --from field.npy
"$TUTTI_COMMAND" array create ints --shape 400,600 --type int16 || bad=1
expect 1 'type float64 (8 bytes), but the array has int16 (2 bytes)' write ints --from field.npy
expect 1 "'70000' is not a valid int16" create other --shape 3 --type int16 --fill 70000
expect 1 'needs --shape and --type' write other --from two --create
[ ! -e other ] || { echo 'a refused array was made'; bad=1; }
expect 1 'field.npy' write other --from field.npy --create --type int8
[ ! -e other ] || { echo 'half an array was left'; bad=1; }
"$TUTTI_COMMAND" array create text --shape 3 --type bytes:5 --fill 0102030405 || bad=1
expect 0 '0102030405' read text
expect 1 'must be numeric' stat text
expect 1 'must be numeric' read text --png x
expect 1 'two dimensions' read field.npy 0:0,: --png x
expect 1 'cannot write' read field 0,0 --out nowhere/x
expect 1 'cannot write' read field --png nowhere/x
expect 1 'cannot write' read field --npy nowhere/x

# ---- existing files are kept unless --force is given
expect 1 '--force replaces it' create field --shape 3 --type int8
expect 1 '--force replaces it' transpose field copy
expect 1 '--force replaces it' write copy --create --from field.npy
expect 1 'the same file' transpose field ./field --force
expect 0 '' transpose field copy --force --axes 0,1
expect 0 '' write copy --create --force --from field.npy
expect 0 '' create flat --raw --shape 5 --type int32 --offset 12 --fill -1 --force
[ "$(od -An -td4 flat | tr -d ' \n')" = 000-1-1-1-1-1 ] || { echo 'flat is wrong'; bad=1; }
expect 0 '(400, 600)' info copy

# ---- a refused command changes nothing; a command that cannot write its output fails
cp field keep
expect 1 'the same file' read field --out ./field
expect 1 'the same file' read field --png field
expect 1 'the same file' write two --create --from two --force --shape 2 --type int8
expect 1 'has only 2 of 3 elements' write field --create --from two --force --shape 3 --type int8
cmp field keep || { echo 'a refused command has changed an array'; bad=1; }
mkfifo pipe
expect 1 'not a regular file' read field --npy pipe
[ -p pipe ] || { echo 'a pipe was replaced by a file'; bad=1; }
"$TUTTI_COMMAND" array info field >/dev/full 2>out && { echo 'a failed write to standard output was not reported'; bad=1; }
grep -q 'standard output' out || { cat out; bad=1; }

# ---- a new array whose name ends in .npy is a NumPy file
expect 0 '' create new.npy --shape 2,3 --type int16 --fill -2 --order column
expect 0 '' transpose new.npy turned.npy
[ "$(tail -c +129 turned.npy | od -An -td2 | tr -d ' \n')" = -2-2-2-2-2-2 ] || { echo 'turned.npy is wrong'; bad=1; }
expect 0 '(3, 2)' info turned.npy

# ---- numbers with very many digits, and invalid numbers
{
    printf '1%0300d\n' 0
    printf '9\0009\n'
} >digits
expect 1 "line 2: '9?9' is not a valid float64" write other --create --from digits --shape 2 --type float64
sed -i 2d digits
expect 0 '' write other --create --from digits --shape 1 --type float64
expect 0 '1e+300' read other
expect 1 "not a valid uint64" create other --force --shape 3 --type uint64 --fill ' -5'

# ---- local placement is reported, and copied to one file on as many ranks as the array has
cat >local.c <<'END'
#include <tutti/tutti.h>
int main(int argc, char **argv) {
    const tutti_array_spec spec = {.ndims = 2, .shape = {4, 6}, .type = TUTTI_INT32};
    const tutti_dist_dim dims[2] = {{.kind = TUTTI_DIST_NONE, .procs = 1}, {.kind = TUTTI_DIST_CYCLIC, .procs = 2}};
    tutti_distribution *d;
    tutti_array *a;
    int rank, v[12];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 12; i++) v[i] = i / 3 * 6 + i % 3 * 2 + rank;
    const tutti_slice part = tutti_slice_all(2, (tutti_count[]){4, 3});
    const int failed = tutti_distribution_make(2, spec.shape, dims, &d) != TUTTI_OK ||
                       tutti_array_create_local(MPI_COMM_WORLD, "local", &spec, d, NULL, &a) != TUTTI_OK ||
                       tutti_array_write(a, &part, NULL, v) != TUTTI_OK || tutti_array_close(&a) != TUTTI_OK;
    MPI_Finalize();
    return failed;
}
END
# two arguments...: run the command on two ranks with its output in `out`
two() {
    "$here/scripts/mpirun.sh" "$TUTTI_MPI" 2 "$TUTTI_COMMAND" array "$@" >out 2>&1
}
if command -v mpicc."$TUTTI_MPI" >/dev/null; then
    mpicc."$TUTTI_MPI" -I"$here/include" local.c -o local.exe -L"$TUTTI_BUILD_DIR" -ltutti -Wl,-rpath,"$TUTTI_BUILD_DIR" &&
        "$here/scripts/mpirun.sh" "$TUTTI_MPI" 2 ./local.exe || bad=1
    two info local
    grep -q 'local, 2 ranks' out || { echo 'local placement is not reported'; cat out; bad=1; }
    two info local --json
    grep -q '"ranks": 2' out || { cat out; bad=1; }
    two read local && bad=1
    grep -q 'has local placement' out || { echo 'local placement is read'; cat out; bad=1; }
    two transpose local new --axes 0,1 || { cat out; bad=1; }
    "$TUTTI_COMMAND" array read new --csv >out || bad=1
    printf '0,1,2,3,4,5\n6,7,8,9,10,11\n12,13,14,15,16,17\n18,19,20,21,22,23\n' | cmp - out || bad=1
    expect 0 'local, 2 ranks' info local # on any number of ranks
fi

# ---- every argument of the page is used by its examples, by this test or by t961
sed 's/\\-/-/g' "$page" >plain
grep -o -e '--[a-z][a-z-]*' plain | sort -u >flags
while read -r flag; do
    grep -q -e "$flag\b" examples "$0" "$here/tests/cli/t961_array_values.sh" "$here/tests/cli/t979_grammar.sh" "$here/tests/cli/t950_usage.sh" || { echo "$flag is not tested"; bad=1; }
done <flags
[ "$(wc -l <flags)" -gt 20 ] || { echo 'the page has few arguments'; bad=1; }
left=$(find . -name '*.tmp')
[ -z "$left" ] || { echo "left behind: $left"; bad=1; }
exit $bad
