#!/bin/sh
# TEST ranks=0 timeout=120
# tutti archive and restore with directories, tar archives (exchanged with tar(1)) and commands; the output of ls, show
# and verify for archived segments; archives that are damaged, foreign or missing; no segment is lost if the command
# is killed at any step.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck source=tests/cli/common.sh
. "$(dirname "$0")/common.sh"
compile cli/dataset_writer.c writer || exit 1

./writer run </dev/null || exit 1
cp -a run whole

# ---- a directory: states 0 and 1, then all states
expect 0 '2 segments archived, 8 KiB' archive run --to away --older-than 2
expect 0 'segments 1 to 2 are archived in' ls run
expect 0 '' ls run --json
json '[g["archived"] for g in o["segments"]] == [None, "away", "away", None, None, None]'
expect 0 'archived = 2 ;' show run
expect 0 '' show run --json
json 'o["segments"][1]["archived"] == "away"'
expect 0 '2 segments are archived: not verified' verify run
expect 0 '' verify run --json
json 'o["ok"] and o["archived"] == 2 and o["segments"] == 4'
expect 1 "segment 1 is archived in 'away': restore it first" dump run -v heat -s 1
expect 1 'archived in' diff run whole
expect 0 '300 to 323 in segment 5' ls run --range
expect 0 '' archive run --to away --segments 3: --json
json 'o["segments"] == 2 and o["place"] == "away" and o["archived"]'
expect 0 '0 segments archived' archive run --to away
id=$(basename away/segment-*-000003.tutti -000003.tutti) # the name contains the id of the dataset
cp "away/$id-000003.tutti" kept
printf 'x' | dd of="away/$id-000003.tutti" bs=1 seek=700 conv=notrunc 2>/dev/null
expect 1 'damaged' restore run --from away
cp kept "away/$id-000003.tutti"
mv "away/$id-000005.tutti" kept
expect 1 'No such file' restore run --from away
cp kept "away/$id-000005.tutti"
expect 0 '1 segment restored' restore run --from away --segments 2:2
expect 0 '' restore run --from away --json
json 'o["segments"] == 3'
expect 0 '' diff run whole

# ---- tar(1) reads archives of Tutti, and vice versa
"$TUTTI_COMMAND" archive run --tar - >x.tar 2>out || { cat out; bad=1; }
grep -q '4 segments archived' out || { cat out; bad=1; }
expect 0 "archived in '$(pwd -P)/x.tar'" ls run
mkdir -p taken
tar -C taken -xf x.tar || bad=1
for i in 2 3 5 6; do cmp "taken/$id-00000$i.tutti" "away/$id-00000$i.tutti" || bad=1; done
"$TUTTI_COMMAND" restore run --tar - <x.tar >out 2>&1 || { cat out; bad=1; }
expect 0 '' diff run whole
expect 0 '4 segments archived' archive run --tar y.tar
expect 1 'File exists' archive run --tar y.tar
: >readme
for format in ustar pax gnu; do # in any order, with other members
    tar --format=$format -cf $format.tar readme ./whole -C away "./$id-000006.tutti" "$id-000003.tutti" \
        "$id-000002.tutti" "$id-000005.tutti"
    cp -a run from-$format
    expect 0 '4 segments restored' restore from-$format --tar $format.tar
    expect 0 '' diff from-$format whole
done
tar -C away -cf few.tar "$id-000002.tutti"
expect 1 'the archive does not contain segment 3' restore run --tar few.tar
head -c 9000 x.tar >short.tar
expect 1 'short read of the archive' restore run --tar short.tar
(printf 'no tar archive, but long enough'; head -c 5000 /dev/zero) >none.tar
expect 1 'not a tar archive' restore run --tar none.tar
for at in 124 150 520 1500; do # bytes of sizes, checksums, headers and values
    cp x.tar hurt.tar
    printf '\377' | dd of=hurt.tar bs=1 seek=$at conv=notrunc 2>/dev/null
    expect 1 'tutti restore' restore run --tar hurt.tar
done
tar -cf links.tar --transform "s,readme,$id-000002.tutti," readme
expect 1 'has 0 bytes' restore run --tar links.tar
expect 0 '4 segments are archived' verify run
expect 0 '4 segments restored' restore run --tar y.tar
expect 0 '' diff run whole

# ---- through pipes and commands
"$TUTTI_COMMAND" archive run --tar - 2>out | tar -tf - >names || bad=1
if ! grep -q 'stay here' out || [ "$(wc -l <names)" -ne 4 ]; then
    cat out names
    bad=1
fi
expect 0 '' diff run whole
expect 1 'failed with status 3: nothing is archived' archive run --command 'cat >/dev/null; exit 3'
expect 1 'nothing is archived' archive run --command 'exec false'
expect 0 '' diff run whole
expect 0 '4 segments archived' archive run --command 'cat >z.tar'
expect 0 "archived in 'cat >z.tar'" ls run
expect 1 '' restore run --command 'head -c 6000 z.tar'
expect 0 '4 segments restored' restore run --command 'cat z.tar'
expect 0 '' diff run whole

# ---- wrong usage
expect 2 'exactly one of --to DIR, --tar FILE and --command' archive run
expect 2 'exactly one of --from DIR' restore run --tar x --from y
expect 2 'exclude each other' archive run --to x --segments 1:2 --older-than 3
expect 1 'must be A:B' archive run --to x --segments 1-2
expect 1 'of the 6 segments, which count from 0' archive run --to x --segments 3:9
expect 1 'must be a time index' archive run --to x --older-than soon
expect 2 "'--to' does not apply to 'tutti restore'" restore run --to x
expect 0 'Usage: tutti restore' restore --help
expect 1 'No such file' archive nowhere --to x

# ---- killed at the n-th step that changes files: every segment is in the dataset or in the archive
case $TUTTI_BUILD_DIR in */openmpi) ;; *) exit $bad ;; esac
cat >kill.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/types.h>
static void step(void) {
    static int n;
    const char *at = getenv("KILL_AT");
    if (at && ++n == atoi(at)) raise(SIGKILL);
}
#define STEP(type, name, params, args)                                       \
    type name params {                                                       \
        step();                                                              \
        return ((type(*) params)dlsym(RTLD_NEXT, #name))args;                \
    }
STEP(int, fsync, (int f), (f))
STEP(int, fdatasync, (int f), (f))
STEP(int, rename, (const char *a, const char *b), (a, b))
STEP(int, unlink, (const char *a), (a))
STEP(int, fallocate, (int f, int m, off_t a, off_t n), (f, m, a, n))
STEP(int, fallocate64, (int f, int m, off_t a, off_t n), (f, m, a, n))
STEP(int, ftruncate64, (int f, off_t n), (f, n))
END
cc -shared -fPIC -o kill.so kill.c -ldl || exit 1
# killed WHAT arguments...: run from the same initial state, killed at step 1, 6, 11, ... until the command completes
killed() {
    what=$1 steps=1
    shift
    while :; do
        rm -rf again there
        cp -a begin again
        [ ! -d begin.there ] || cp -a begin.there there
        { KILL_AT=$steps LD_PRELOAD=$PWD/kill.so "$TUTTI_COMMAND" "$@" >out 2>&1 </dev/null; } 2>/dev/null && break
        rm -rf back
        cp -a again back
        expect 0 '' verify back
        if [ -d there ]; then expect 0 '' restore back --from there; else expect 0 '' restore back --from away; fi
        expect 0 '' diff back whole
        steps=$((steps + 5))
        [ $steps -lt 80 ] || break
    done
    [ $steps -gt 8 ] || { echo "$what: only $steps steps"; bad=1; }
    expect 0 '' "$@" # the command can be repeated
}
expect 0 '' cp whole begin --indices-per-file 2
killed archive archive again --to there
cp -a again begin2
cp -a there begin.there
rm -rf begin
mv begin2 begin
killed restore restore again --from there
expect 0 '' diff again whole
exit $bad
