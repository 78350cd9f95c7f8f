#!/bin/sh
# TEST ranks=0 timeout=900 cores=2
# A program that writes an Exodus file is killed at random times, also during creation: each time ncdump and
# libexodusii can read the file with a complete last step, no step whose commit had returned is lost, and after the
# writer has opened the file again, verify succeeds and ncvalidator accepts the file.  Rounds: 6; tier=full: 200; or
# KILL_ROUNDS.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$TUTTI_TEST_DIR"
reader=$TUTTI_BUILD_DIR/tests/exodus/exodus_reader
for needed in ncdump ncvalidator "$reader"; do
    command -v "$needed" >/dev/null || {
        echo "no $needed (Debian: netcdf-bin pnetcdf-bin libexodusii-dev)"
        exit 77
    }
done
mpicc=$(sed -n 's/^TUTTI_MPICC:[^=]*=//p' "$TUTTI_BUILD_DIR/CMakeCache.txt")
"$mpicc" -std=gnu11 -Wall -Wextra -Werror -I"$top/include" "$top/tests/exodus/killed_writer.c" -o writer \
    -L"$TUTTI_BUILD_DIR" -ltutti -Wl,-rpath,"$TUTTI_BUILD_DIR"
here=${TUTTI_TEST_SHM:-$PWD}
file=$here/k.e
seed=${TUTTI_TEST_SEED:-$(date +%s)}
rounds=6
[ "${TUTTI_TEST_TIER:-quick}" != full ] || rounds=200
rounds=${KILL_ROUNDS:-$rounds}
echo "seed $seed"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_ess_singleton_isolated=1

wrong() {
    echo "round $round, seed $seed: $*" >&2
    cat out >&2
    exit 1
}
steps_of() { # print the number of steps reported by ncdump
    ncdump -h "$file" | sed -n 's/.*UNLIMITED ; \/\/ (\([0-9]*\) currently).*/\1/p'
}
# look ATLEAST: check the file with other programs; it must have at least ATLEAST steps
look() {
    ncdump -v time_whole "$file" >dump || wrong "ncdump"
    steps=$(steps_of)
    [ "$steps" -ge "$1" ] || wrong "$steps steps, and $1 were committed"
    "$reader" "$file" >text || wrong "libexodusii"
    awk -v steps="$steps" '
        /^times/ { if (NF - 1 != steps) { print NF - 1 " times, " steps " steps"; bad = 1 } }
        /^(nodal 0|element_block 1) variable . step/ {
            v = $1 == "nodal" ? $4 : 3
            for (i = 7; i <= NF; i++)
                if ($i != 100000 * $6 + 10000 * v + i - 7) { print "step " $6 ": " $i; bad = 1; exit }
            seen++
        }
        END { if (seen != 3 * steps) { print seen " variables of " steps " steps"; bad = 1 } exit bad }' text >&2 ||
        wrong "numbers"
}

round=0
said=0
while [ $round -lt "$rounds" ]; do
    round=$((round + 1))
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    after=$((seed / 7 % 15000 / (1 + seed % 4) + 1))
    if [ $((round % 4)) -eq 1 ]; then # a new file, whose creation may be interrupted
        rm -f "$file" "$file".*
        said=0
        set -- create
    else
        set --
    fi
    if [ $((round % 5)) -eq 0 ]; then
        "$top/scripts/mpirun.sh" "$TUTTI_MPI" 3 ./writer "$file" $after "$@" >out 2>&1 && wrong "was not killed"
    else
        ./writer "$file" $after "$@" >out 2>&1 </dev/null && wrong "was not killed"
    fi
    ! grep -q '^wrong' out || wrong "what it found was not whole"
    now=$(sed -n 's/^committed //p' out | tail -1)
    [ -z "$now" ] || said=$now
    if [ ! -e "$file" ] || [ "$(head -c 3 "$file" | tr -d '\0')" != CDF ]; then # killed before the file was created
        [ $# -gt 0 ] || wrong "the file has gone"
        rm -f "$file" "$file".*
        continue
    fi
    look "$said"
    ./writer "$file" -1 >out 2>&1 </dev/null || wrong "cannot be opened"
    ncvalidator -q "$file" >valid 2>&1 || wrong "ncvalidator: $(cat valid)"
    look "$said"
done
"$top/scripts/mpirun.sh" "$TUTTI_MPI" 2 ./writer "$file" 0 >out 2>&1 || wrong "the last run"
ncvalidator -q "$file" || wrong "ncvalidator"
look 2
