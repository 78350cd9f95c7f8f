# shellcheck shell=sh disable=SC2154 # variables of the scripts that source it
# Functions of the power-cut tests: build the recorder and a program, record its writes, replay them with cuts.
# SPDX-License-Identifier: BSD-3-Clause
cd "$TUTTI_TEST_DIR" || exit 1
here=${TUTTI_TEST_SHM:-$PWD}
seed=${TUTTI_TEST_SEED:-1270}
echo "seed $seed"
: >sites

# powercut_build SOURCE: the program that writes and looks
powercut_build() {
    mpicc=$(sed -n 's/^TUTTI_MPICC:[^=]*=//p' "$TUTTI_BUILD_DIR/CMakeCache.txt")
    cc -std=gnu11 -Wall -Wextra -Werror -O1 -D_GNU_SOURCE -fPIC -shared "$top/tests/dataset/powercut_record.c" -o record.so -ldl -lpthread
    "$mpicc" -std=gnu11 -Wall -Wextra -Werror -O1 -I"$top/include" -I"$top/tests/dataset" "$1" -o program \
        -L"$TUTTI_BUILD_DIR" -ltutti -ldl -Wl,-rpath,"$TUTTI_BUILD_DIR"
}

# powercut_record RANKS LEVEL: a log of the writer
powercut_record() {
    rm -rf "$here/root" log
    mkdir "$here/root"
    "$top/scripts/mpirun.sh" "$TUTTI_MPI" "$1" env TUTTI_STORE=posix LD_PRELOAD="$PWD/record.so" POWERCUT_ROOT="$here/root" \
        POWERCUT_LOG="$PWD/log" ./program write "$here/root" "$2"
}

# powercut_replay EVERY all|each: no cut may do harm
powercut_replay() {
    "$top/scripts/mpirun.sh" "$TUTTI_MPI" 1 ./program replay log "$here/cut" "$1" "$seed" "$2" >out 2>&1 || { cat out; exit 1; }
    grep 'cuts, 0 did harm' out
    grep 'needed' out >>sites || true
}

# powercut_replay_harmed all|none: a cut does harm, so that the model finds something
powercut_replay_harmed() {
    if "$top/scripts/mpirun.sh" "$TUTTI_MPI" 1 ./program replay log "$here/cut" 20 "$seed" "$1" >out 2>&1; then
        echo "no harm with '$1' of the syncs"
        exit 1
    fi
    grep -q 'did harm' out || { cat out; exit 1; }
}

# powercut_sites N: every call site of a sync is needed in one of the logs, and there are at least N
powercut_sites() {
    rm -rf "$here/root" "$here/cut"
    sed -n 's/^needed //p' sites | sort -u >needed
    sed -n 's/^unneeded //p' sites | sort -u >unneeded
    comm -13 needed unneeded >never
    while read -r site; do
        echo 'no cut shows that this sync is needed:'
        # shellcheck disable=SC2046 # a list of addresses
        addr2line -f -s -i -e "$TUTTI_BUILD_DIR/libtutti.so" $(echo "$site" | sed 's/+/0x/g') || echo "$site"
    done <never
    [ ! -s never ] || exit 1
    [ "$(wc -l <needed)" -ge "$1" ] || { echo "only $(wc -l <needed) call sites of syncs"; cat needed; exit 1; }
    echo "$(wc -l <needed) call sites of syncs, each needed"
}
