# shellcheck shell=sh disable=SC2154 # variables of the scripts that source it
# Functions of the power-cut tests: build the recorder and a program, record its writes, replay
# them with power cuts.
# SPDX-License-Identifier: BSD-3-Clause
cd "$TUTTI_TEST_DIR" || exit 1
here=${TUTTI_TEST_SHM:-$PWD}
seed=${TUTTI_TEST_SEED:-1270}
echo "seed $seed"
: >sites

# powercut_build SOURCE: build the program that writes and verifies
powercut_build() {
    mpicc=$(sed -n 's/^TUTTI_MPICC:[^=]*=//p' "$TUTTI_BUILD_DIR/CMakeCache.txt")
    cc -std=gnu11 -Wall -Wextra -Werror -O1 -D_GNU_SOURCE -fPIC -shared "$top/tests/dataset/powercut_record.c" -o record.so -ldl -lpthread
    "$mpicc" -std=gnu11 -Wall -Wextra -Werror -O1 -I"$top/include" -I"$top/tests/dataset" "$1" -o program \
        -L"$TUTTI_BUILD_DIR" -ltutti -ldl -Wl,-rpath,"$TUTTI_BUILD_DIR"
}

# powercut_record RANKS LEVEL: run the writer and record its log
powercut_record() {
    rm -rf "$here/root" log
    mkdir "$here/root"
    "$top/scripts/mpirun.sh" "$TUTTI_MPI" "$1" env TUTTI_STORE=posix LD_PRELOAD="$PWD/record.so" POWERCUT_ROOT="$here/root" \
        POWERCUT_LOG="$PWD/log" ./program write "$here/root" "$2"
}

# powercut_replay EVERY all|each: replay the log; no cut may lose data
powercut_replay() {
    "$top/scripts/mpirun.sh" "$TUTTI_MPI" 1 ./program replay log "$here/cut" "$1" "$seed" "$2" >out 2>&1 || { cat out; exit 1; }
    grep 'cuts, 0 did harm' out
    grep 'needed' out >>sites || true
}

# powercut_replay_harmed all|none: replay the log; a cut must lose data, which shows that the model detects losses
powercut_replay_harmed() {
    if "$top/scripts/mpirun.sh" "$TUTTI_MPI" 1 ./program replay log "$here/cut" 20 "$seed" "$1" >out 2>&1; then
        echo "no harm with '$1' of the syncs"
        exit 1
    fi
    grep -q 'did harm' out || { cat out; exit 1; }
}

# site_names: replace the return addresses in lines of "WORD ADDRESSES" by the caller of the sync: the first
# function that is not a helper
site_names() {
    while read -r word chain; do
        # shellcheck disable=SC2046 # a list of addresses
        place=$(addr2line -f -s -i -e "$TUTTI_BUILD_DIR/libtutti.so" $(echo "$chain" | sed 's/+/0x/g') 2>/dev/null | paste -d' ' - - |
            grep -v -E '^(tutti__fdfile_sync|during|add_operation|tutti__store_sync|tutti__sync_here|tutti_file_sync|.*directory_sync|tutti__meta_sync_directory|tutti__parent_sync|names_sync|file_sync|sync_file|finish_and_sync|tutti__by_thread.*|tutti__step_commit_run|tutti__exodus_region_commit) ' |
            head -1 | sed 's/ (disc.*//')
        case $chain in SQLite) place=SQLite ;; esac
        echo "$word ${place:-$chain}"
    done
}

# powercut_sites N: check that every call site of a sync was needed in at least one log, and that at least N sites
# exist
powercut_sites() {
    rm -rf "$here/root" "$here/cut"
    site_names <sites >places
    sed -n 's/^needed //p' places | sort -u >needed
    sed -n 's/^unneeded //p' places | sort -u | comm -13 needed - >never
    [ ! -s never ] || { echo 'no cut shows that these syncs are needed:'; cat never; exit 1; }
    [ "$(wc -l <needed)" -ge "$1" ] || { echo "only $(wc -l <needed) places sync:"; cat needed; exit 1; }
    echo 'syncs, each needed:'
    cat needed
}
