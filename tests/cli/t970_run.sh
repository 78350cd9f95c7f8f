#!/bin/sh
# TEST ranks=0 timeout=120 builds=openmpi,mpich cores=2
# tutti run with a library that only records the programs that load it: real and simulated launchers, options, exit
# codes, signals; --compare.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2016 # programs are texts for other shells
# shellcheck source=tests/cli/common.sh
. "$(dirname "$0")/common.sh"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
unset LD_PRELOAD TUTTI_MPIIO_LIB
for name in $(env | sed -n 's/^\(TUTTI_[A-Z_]*\)=.*/\1/p'); do # variables set by the test runner
    case $name in TUTTI_COMMAND | TUTTI_TEST_DIR | TUTTI_MPICH_YIELD) ;; *) unset "$name" ;; esac
done
ln -s . link && cd link || exit 1 # the command resolves paths
command=$TUTTI_COMMAND lib=$(pwd -P)/libwitness.so log=$PWD/loaded
cat >witness.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
__attribute__((constructor)) static void loaded(void) {
    char name[64] = "";
    FILE *f = fopen("/proc/self/comm", "r"), *log;
    if (f && fgets(name, sizeof name, f)) name[strcspn(name, "\n")] = 0;
    if (f) fclose(f);
    if (getenv("WITNESS") && (log = fopen(getenv("WITNESS"), "a"))) {
        fprintf(log, "%s\n", name);
        fclose(log);
    }
}
END
${CC:-cc} -shared -fPIC -o "$lib" witness.c || exit 1
export WITNESS="$log"

# run CODE TEXT arguments...: check the exit code of tutti run and that its output contains TEXT
run() {
    code=$1 text=$2
    shift 2
    : >"$log"
    ("$command" run "$@"; exit $?) >out 2>err
    got=$?
    [ $got -eq "$code" ] || fail "tutti run $*: exit code $got, not $code"
    [ -z "$text" ] || cat out err | grep -qF -e "$text" || fail "tutti run $*: no word of '$text'"
}

# pretend NAME TEXT: create a launcher that prints TEXT for --version and its arguments otherwise
pretend() {
    printf '#!/bin/sh\nif [ "$1" = --version ]; then echo "%s"; exit; fi\necho "got: $*"\n' "$2" >"$1"
    chmod +x "$1"
}

# ---- programs
run 0 "preload=$lib" --library "$lib" -- sh -c 'echo "preload=$LD_PRELOAD"'
grep -q . "$log" || fail 'the library was not loaded'
export LD_PRELOAD="$lib"
run 0 "LD_PRELOAD=$lib:$lib sh -c 'exit 3'" --library ./libwitness.so --dry-run sh -c 'exit 3'
unset LD_PRELOAD
run 42 '' --library "$lib" -- sh -c 'exit 42'
run 143 '' --library "$lib" -- sh -c 'kill -TERM $$'
run 127 'nowhere' --library "$lib" -- ./nowhere
run 126 'witness.c' --library "$lib" -- ./witness.c
TUTTI_MPIIO_LIB=$lib run 0 "LD_PRELOAD=$lib" --dry-run -- sh
TUTTI_METHDO=list run 0 "unknown variable 'TUTTI_METHDO' is ignored; did you mean 'TUTTI_METHOD'?" --library "$lib" -- true
TUTTI_METHOD=list TUTTI_ELSE=1 run 0 '' --library "$lib" -- true
! grep -q 'is ignored' err || fail 'warned of what is right, or of something else'
run 1 'LD_PRELOAD' --library "$lib" -- jsrun -n 2 ./program
run 1 "cannot find the library '$PWD/none.so'" --library "$PWD/none.so" -- sh
cp "$lib" 'blank lib.so'
run 1 'must not contain spaces' --library 'blank lib.so' -- sh

# ---- usage
run 0 'Usage: tutti run' --help
run 2 'missing operand COMMAND'
run 2 'missing operand COMMAND' --stats --
run 2 "unknown option '--fast'" --fast -- sh
run 2 'needs a value' --library
run 2 'must be NAME=VALUE' -o method -- sh
run 2 'method' -o method=fast -- sh
run 2 'no_such' -o no_such=1 -- sh
run 2 "--rounds '0'" --rounds 0 -- sh

# ---- options become environment variables
run 0 'TUTTI_METHOD=list TUTTI_CB_BUFFER_SIZE=1048576 TUTTI_STATS=1 TUTTI_EXPLAIN=true TUTTI_TRACE=t.json' --library "$lib" \
    --stats --explain --trace t.json -o method=list -o cb-buffer-size=1m --dry-run -- sh
run 0 'list,1' --library "$lib" --stats -o method=list -- sh -c 'echo "$TUTTI_METHOD,$TUTTI_STATS"'
TUTTI_METHOD=sieve run 0 'auto,list' --library "$lib" -o method=auto -o method_read=list -- \
    sh -c 'echo "$TUTTI_METHOD,$TUTTI_METHOD_READ"'

# ---- launchers, recognized by name and version text
if [ "$mpi" = openmpi ]; then
    mine='mpirun (Open MPI) 5.0.1' other='HYDRA build details:'
    export TUTTI_METHOD=list
    pretend mpirun "$mine"
    run 0 "got: -x LD_PRELOAD=$lib " --library "$lib" -- ./mpirun -np 2 prog
    grep -q -e ' -x TUTTI_METHOD ' out || fail 'variables are not passed on'
    grep -q -e ' -np 2 prog$' out || fail 'arguments are not kept'
    run 0 "got: -x LD_PRELOAD=$lib " --library "$lib" -- env A=1 nice ./mpirun -np 2 prog
    run 0 "-np 1 a : -x LD_PRELOAD=$lib" --library "$lib" -- ./mpirun -np 1 a : -np 1 b
    run 0 "got: -x LD_PRELOAD=$lib:/a.so" --library "$lib" -- ./mpirun -x LD_PRELOAD=/a.so -x TUTTI_METHOD=root prog
    [ "$(grep -o LD_PRELOAD out | wc -l)" = 1 ] || fail 'LD_PRELOAD twice'
    if grep -q -e '-x TUTTI_METHOD ' out; then fail 'the user said otherwise'; fi
    unset TUTTI_METHOD
else
    mine='HYDRA build details:' other='mpirun (Open MPI) 5.0.1'
    pretend mpiexec "$mine"
    run 0 "got: -genv LD_PRELOAD $lib " --library "$lib" -o method=list -- ./mpiexec -n 2 prog
    grep -q -e ' -genv TUTTI_METHOD list ' out || fail 'variables are not passed on'
    grep -q -e ' -n 2 prog$' out || fail 'arguments are not kept'
    run 0 "-genv LD_PRELOAD $lib:/a.so prog" --library "$lib" -- ./mpiexec -genv LD_PRELOAD /a.so prog
fi
pretend mpiexec.other "$other"
run 1 'use a tutti that was built for' --library "$lib" -- ./mpiexec.other -n 2 prog
pretend mpirun_rsh 'what?'
run 1 'neither Open MPI nor MPICH' --library "$lib" -- ./mpirun_rsh -n 2 prog
pretend srun ''
run 0 "got: --export=ALL,LD_PRELOAD=$lib -n 2 prog" --library "$lib" -- ./srun -n 2 prog
run 0 "got: --export=HOME,TUTTI_" --library "$lib" -o method=list -- ./srun -n 2 --export=HOME prog
grep -q ",LD_PRELOAD=$lib -n 2 prog" out || fail 'srun: no LD_PRELOAD'

# ---- real launchers: only the ranks load the library
script=$here/scripts/mpirun.sh
other_mpi=mpich launcher=mpirun.openmpi
[ "$mpi" = openmpi ] || other_mpi=openmpi launcher=mpiexec.mpich
# ranks_only WHAT: check that sleep, the program of the ranks, has loaded the library, and that launchers have not
ranks_only() {
    grep -q '^sleep$' "$log" || fail "$1: no rank loaded it: $(sort -u "$log" | tr '\n' ' ')"
    if grep -qE '^(mpi|hydra|orte)' "$log"; then fail "$1: the launcher loaded it"; fi
}
run 0 '' --library "$lib" -- "$script" "$mpi" 2 sleep 0
ranks_only mpirun.sh
run 5 '' --library "$lib" -- "$script" "$mpi" 2 sh -c 'exit 5'
run 1 'use a tutti that was built for' --library "$lib" -- "$script" "$other_mpi" 2 sleep 0
if command -v "$launcher" >/dev/null && unshare -n ip link set lo up 2>/dev/null; then
    : >"$log"
    unshare -n sh -c 'ip link set lo up && exec "$@"' sh "$command" run --library "$lib" -- \
        "$launcher" -np 2 sleep 0 >out 2>err || fail "$launcher: exit code $?"
    ranks_only "$launcher"
fi

# ---- --compare: runs with and without the library
count=$PWD/count
cat >program <<'END'
#!/bin/sh
read -r line
echo "said $line"
echo "${LD_PRELOAD:-none} ${TUTTI_MPIIO:-on}" >>"$1"
sleep "${2:-0}"
[ -z "${3:-}" ] || [ "$(wc -l <"$1")" -lt "$3" ] || { echo 'it breaks' >&2; exit 9; }
END
chmod +x program
echo input >in
: >"$count"
"$command" run --library "$lib" --compare -- ./program "$count" 0.01 <in >out 2>err || fail "compare: exit code $?"
[ "$(grep -c '^said input$' out)" = 1 ] || fail 'what the program says is not shown once'
[ "$(wc -l <"$count")" = 12 ] || fail 'not 6 rounds of 2'
[ "$(sed -n 1,4p "$count" | sed "s|$lib|with|" | tr '\n' ' ')" = 'with on with off with off with on ' ] || fail 'not in turn'
[ "$(grep -cE '^  with(out| Tutti) +[0-9.]+ s  ' out)" = 2 ] || fail 'no times'
grep -qE '^  without / with  +[0-9.]+ +[0-9.]+ \.\.\. [0-9.]+ \(95 % interval of the median\)' out || fail 'no ratio'
: >"$count"
run 0 'too few rounds' --library "$lib" --compare --rounds 2 -- ./program "$count"
: >"$count"
run 9 'it breaks' --library "$lib" --compare --rounds 3 -- ./program "$count" 0 3
grep -q 'round 2, without Tutti: exit code 9' err || fail 'which run failed?'
run 127 'nowhere' --library "$lib" --compare -- ./nowhere
: >"$count"
"$command" run --library "$lib" --compare -- ./program "$count" 30 >out 2>err &
pid=$!
for _ in 1 2 3 4 5 6 7 8 9 10; do
    [ -s "$count" ] && break
    sleep 0.3
done
kill -TERM $pid
wait $pid 2>/dev/null
[ $? = 143 ] || fail 'it does not end by the signal'
finish
