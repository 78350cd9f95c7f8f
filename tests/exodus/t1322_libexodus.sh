#!/bin/sh
# TEST ranks=0 timeout=120 builds=openmpi,mpich
# Files as written by other programs (corpus_writer): Tutti reads the same contents as libexodusii, on one rank and on
# three ranks; also a file of libexodusii after nccopy -u, which makes the time dimension fixed.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$TUTTI_TEST_DIR"
programs=$TUTTI_BUILD_DIR/tests/exodus
[ -x "$programs/exodus_reader" ] || {
    echo "no libexodusii (Debian: apt-get install libexodusii-dev)"
    exit 77
}
bad=0
compare() { # FILE RANKS
    OMPI_MCA_ess_singleton_isolated=1 "$programs/exodus_reader" "$1" >theirs || bad=1
    [ "$(wc -l <theirs)" -gt 10 ] || { echo "$1: libexodusii reads nothing"; bad=1; }
    "$top/scripts/mpirun.sh" "$TUTTI_MPI" "$2" "$programs/corpus_reader" "$1" >ours || bad=1
    cmp theirs ours || { echo "$1 on $2 ranks:"; diff theirs ours | cut -c1-200 | head -6; bad=1; }
}
"$programs/corpus_writer" . >/dev/null
"$programs/corpus_writer" --list >list
ranks=1
while read -r file refused; do
    if command -v ncvalidator >/dev/null; then ncvalidator -q "$file" || bad=1; fi
    [ -z "$refused" ] || continue
    compare "$file" $ranks </dev/null
    ranks=$((4 - ranks))
done <list
if command -v nccopy >/dev/null; then
    for file in moose.e ioss.e; do
        nccopy -u -k "$(ncdump -k "$file" </dev/null)" "$file" fixed.e
        compare fixed.e 1
        [ "$(grep -c '^nodal 0 variable 1 step' ours)" -gt 1 ] || { echo "$file: no steps"; bad=1; }
    done
fi
exit $bad
