#!/bin/sh
# TEST ranks=0 timeout=120 builds=mpich
# The arguments of all tutti-experiments commands in docs/appendix/experiments.md and scripts/bench_papers.sh are
# valid: with an appended invalid argument, the command reports only that argument.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck source=tests/cli/common.sh
. "$(dirname "$0")/common.sh"

# The commands of bench_papers.sh, recorded by a replacement command that prints its arguments.
mkdir -p tree/scripts tree/experiments/tutti_experiments
printf '#!/bin/sh\n' >tree/experiments/tutti_experiments/__main__.py # no report
chmod +x tree/experiments/tutti_experiments/__main__.py
cp "$here/scripts/bench_papers.sh" tree/scripts/
for name in mpirun.sh throttle.sh bench_hosts.sh meshes.sh; do
    cat >tree/scripts/$name <<'END'
#!/bin/sh
case $0 in
*/mpirun.sh) shift 2 ;;
*/throttle.sh) [ "$1" = run ] || exit 0; shift 2 ;;
*/bench_hosts.sh) while [ "$1" != -- ]; do shift; done; shift ;;
*) exit 0 ;;
esac
exec "$@"
END
    chmod +x tree/scripts/$name
done
cat >note <<'END'
#!/bin/sh
[ "$1" != tune ] || exit 0
echo "$*" >>"$NOTES"
END
chmod +x note
mkdir -p tree/meshes
touch tree/meshes/mesa.msh
NOTES=$PWD/notes tree/scripts/bench_papers.sh ./note ./note tree/run tree/out >log 2>&1 || { cat log; exit 1; }
[ "$(wc -l <notes)" -ge 20 ] || { echo "bench_papers.sh runs little:"; cat notes; bad=1; }
# Extract the commands in the code blocks of the page.
sed -n 's/^    .*tutti-experiments \(.*\)$/\1/p' "$here/docs/appendix/experiments.md" | sed 's/ *#.*//' >page
[ "$(wc -l <page)" -ge 15 ] || { echo "few commands on the page:"; cat page; bad=1; }
sed 's/--\(json\|csv\|html\) [^ ]*//g; s/  */ /g' notes page | sort -u >commands
while read -r line; do
    # shellcheck disable=SC2086 # words
    set -- $line
    "$TUTTI_COMMAND-experiments" "$@" --rounds none >out 2>&1 </dev/null
    code=$?
    reported="--rounds 'none'"
    [ "$1" != simulated ] || reported='unrecognized arguments: --rounds none' # a program of its own
    if [ $code != 2 ] || ! grep -q -- "$reported" out; then
        echo "tutti-experiments $line: exit code $code"
        cat out
        bad=1
    fi
done <commands
finish
