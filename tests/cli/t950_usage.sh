#!/bin/sh
# TEST ranks=0 timeout=60
# Texts and exit codes of the command tutti: help, version, options, and wrong usage of each kind.
# SPDX-License-Identifier: BSD-3-Clause
set -u
tutti=$TUTTI_COMMAND
bad=0
out=$TUTTI_TEST_DIR/out
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
cd "$TUTTI_TEST_DIR" || exit 1

# expect CODE TEXT arguments...: check the exit code of the command and that its output contains TEXT
expect() {
    code=$1 text=$2
    shift 2
    "$tutti" "$@" >"$out" 2>&1
    got=$?
    if [ $got -ne "$code" ] || ! grep -qF -e "$text" "$out"; then
        echo "tutti $*: exit code $got (expected $code), without '$text':"
        cat "$out"
        bad=1
    fi
}

expect 0 'tutti 0.' --version
expect 0 'Usage: tutti COMMAND' help
expect 0 'Usage: tutti COMMAND' --help
expect 0 '--pattern LIST' help bench
expect 0 '--pattern LIST' bench --help
expect 0 'Usage: tutti options' help options
expect 0 'TUTTI_CB_BUFFER_SIZE' options
expect 2 'missing command'
expect 2 "unknown command 'sing'" sing
expect 2 "unknown command 'sing'" help sing
expect 2 "unknown option '--xml'" options --xml
expect 0 'method of collective requests' options method
expect 0 'TUTTI_CB_BUFFER_SIZE' options TUTTI_CB_BUFFER_SIZE
expect 1 "unknown library option 'nothing'" options nothing
expect 2 "extra operand 'block2d'" bench block2d
expect 2 'no-such-option' bench --no-such-option 3
expect 2 '--size' bench --size
expect 2 'from 4 KiB to 1 GiB' bench --size 12q
expect 2 'from 4 KiB to 1 GiB' bench --size 99999999999999999999
expect 2 'block2d,columns' bench --pattern block2d,stars
expect 2 'from 1 to 10000' bench --rounds 0
expect 2 'fast' bench --method two-phase,fast
expect 2 'tape' bench --store tape
expect 2 "unknown value 'erase'" bench --op erase
expect 2 'takes no value' bench --quick=yes
expect 2 'cb-nodes' bench --cb-nodes many
expect 2 "extra operand 'step'" bench step
expect 2 "unknown command 'experiments'" help experiments
expect 2 'procs' bench --procs 1
tutti=$TUTTI_COMMAND-experiments
expect 0 '--procs LIST' --help
expect 0 '--procs LIST' steps --help
expect 0 'tutti-experiments 0.' --version
expect 2 "unknown experiment ''"
expect 2 "unknown experiment 'step'" step
expect 2 'must be at most 1, the number of ranks' steps --procs 1,2
expect 2 'series' steps --series 2
expect 0 'tutti-experiments simulated' simulated --help
expect 2 'unrecognized arguments: --procs 1' simulated --procs 1
expect 2 'name a source tree with --source' simulated --source nowhere
"$tutti" --help | awk 'length($0) > 80 { print "wider than 80 columns: " $0; bad = 1 } END { exit bad }' || bad=1
tutti=$TUTTI_COMMAND
expect 1 "cannot use the directory 'nowhere'" bench --size 64k --dir nowhere
TUTTI_METHOD=fast expect 2 'fast' bench --size 64k

# 80 columns are enough for all texts; colour only on a terminal or on request
for command in $("$tutti" help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
    [ "$command" = version ] && continue
    "$tutti" help "$command" >"$out" || { echo "no help for $command"; bad=1; }
    wide=$(awk 'length($0) > 80' "$out")
    [ -z "$wide" ] || { echo "help $command is wider than 80 columns: $wide"; bad=1; }
done
"$tutti" help | awk 'length($0) > 80 { print "wider than 80 columns: " $0; bad = 1 } END { exit bad }' || bad=1
"$tutti" options >"$out"
awk 'length($0) > 80 { print "wider than 80 columns: " $0; bad = 1 } END { exit bad }' "$out" || bad=1
# escapes WHEN [NAME=VALUE]: print the numbers of lines with escapes of a small bench, in a pipe and on a terminal
escapes() {
    # shellcheck disable=SC2086 # no word or one
    printf '%s ' "$(env TERM=xterm ${2:-} "$tutti" --color "$1" bench --size 4k --rounds 1 --pattern strided --op write \
        --method list --plan fresh --reference none 2>/dev/null | grep -c "$(printf '\033')")"
    script -qec "env TERM=xterm ${2:-} $tutti --color $1 bench --size 4k --rounds 1 --pattern strided --op write \
        --method list --plan fresh --reference none 2>/dev/null" /dev/null | grep -c "$(printf '\033')"
}
seen=$(escapes never; escapes auto; escapes auto NO_COLOR=1; escapes always)
case $(echo "$seen" | sed 's/[1-9][0-9]*/n/g' | tr '\n' ' ') in
"0 0 0 n 0 0 n n ") ;;
*) echo "lines with colour, in a pipe and on a terminal: $seen"; bad=1 ;;
esac
expect 2 'never|auto|always' --color sometimes help
# a launcher may give its ranks a terminal although its own output is a pipe
if TERM=xterm "$(dirname "$0")/../../scripts/mpirun.sh" "$TUTTI_MPI" 1 "$tutti" bench --size 4k --rounds 1 --pattern strided --op write \
    --method list --plan fresh --reference none 2>/dev/null | grep -q "$(printf '\033')"; then
    echo "colour in the pipe of a launcher"
    bad=1
fi

"$tutti" options --json | python3 -c '
import json, sys
rows = json.load(sys.stdin)
names = [row["name"] for row in rows]
assert len(names) == len(set(names)) > 10, names
method = rows[names.index("method")]
assert method["environment"] == "TUTTI_METHOD" and method["default"] == "auto", method
' || bad=1
exit $bad
