#!/bin/sh
# TEST ranks=0 timeout=180 builds=mpich,asan cores=2
# tutti tune on 1 and 2 ranks: the library uses the profile; wrong usage; a directory that cannot be written; no
# files remain, also after an interrupted run.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck source=tests/cli/common.sh
. "$(dirname "$0")/common.sh"
rm -rf config profile d
mkdir -p d
export XDG_CONFIG_HOME="$PWD/config"

profile=config/tutti/profile
tutti 1 tune --quick --out "$profile" d || fail "1 rank: exit code $?"
grep -q 'one rank: messages' out || fail 'one rank does not say what is missing'
grep -q '^ranks  *= 1 ' "$profile" || fail 'not 1 rank'

tutti 2 tune --quick d || fail "2 ranks: exit code $?"
grep -q 'read: one' out || fail 'no table'
grep -q "^written: $PWD/$profile" out || fail 'where is the profile?'
grep -q '^version = 1' "$profile" || fail 'no profile'
grep -q '^ranks  *= 2 ' "$profile" || fail 'not 2 ranks'
[ "$(grep -c '^\[filesystem ' "$profile")" = 1 ] || fail 'not one file system'
[ -z "$(ls d)" ] || fail "left behind: $(ls d)"

# The library finds the profile in the default place and by its name.
bench='bench --size 256k --rounds 1 --pattern pieces512 --op write --plan fresh --reference none --method auto --dir d'
# shellcheck disable=SC2086
TUTTI_EXPLAIN=1 tutti 2 $bench || fail "bench: exit code $?"
grep -q '^tutti: write of .*about ' err || fail 'no explanation'
[ "$(grep -c '^tutti:  *[0-9.]* [mu]*s  [a-z]' err)" -ge 3 ] || fail 'no candidates'
cp "$profile" mine
sed -i 's/^copy_64 .*/copy_64 = 1000/; s/^copy_512 .*/copy_512 = 1000/; s/^copy_4k .*/copy_4k = 1000/' mine
# shellcheck disable=SC2086
TUTTI_PROFILE=$PWD/mine TUTTI_EXPLAIN=1 tutti 2 $bench || fail "bench: exit code $?"
grep -q '^tutti: write of .*: list: ' err || fail 'copies cost a lot, and are chosen'
echo 'nonsense = 1' >>mine
# shellcheck disable=SC2086
TUTTI_PROFILE=$PWD/mine TUTTI_EXPLAIN=1 tutti 2 $bench || fail 'a wrong profile makes it fail'
grep -q 'line [0-9]* of the profile' err || fail 'a wrong profile is not told'
# shellcheck disable=SC2086
TUTTI_PROFILE=$PWD/nowhere TUTTI_EXPLAIN=1 tutti 2 $bench || fail 'a missing profile makes it fail'
grep -q 'nowhere' err || fail 'a missing profile is not told'

# usage CODE TEXT arguments...: check the exit code and the text of tutti tune
usage() {
    code=$1 text=$2
    shift 2
    tutti 1 tune "$@"
    [ $? -eq "$code" ] || fail "tutti tune $*: not exit code $code"
    grep -q -e "$text" out err || fail "tutti tune $*: no word of $text"
}
usage 2 'missing operand DIR'
usage 2 'fast' --fast d
usage 2 'out' d --out
usage 0 'usage' --help
usage 1 'nowhere' --quick nowhere
usage 1 'proc' --quick /proc

# An interrupted run removes its file.
"$TUTTI_COMMAND" tune --dry-run --out never d >out 2>err &
pid=$!
for _ in 1 2 3 4 5 6 7 8 9 10; do
    [ -n "$(ls d)" ] && break
    sleep 0.5
done
kill -TERM $pid
wait $pid 2>/dev/null
[ -z "$(ls d)" ] || fail "left behind by an interrupted run: $(ls d)"
[ ! -e never ] || fail 'a dry run has written'
finish
