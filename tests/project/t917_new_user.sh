#!/bin/sh
# TEST ranks=0 timeout=180 builds=mpich cores=2
# With Tutti in a new prefix and an empty environment, the commands of these pages work in order:
# docs/howto/install.md ("First program"), the tutorial programs built by CMake and by pkg-config, with gcc and clang, in
# C and C++, the commands of README and of the reference, and the examples of the manual pages.  Other tests run the
# how-to guides (t919), tutti-array(1) (t960), tutti-dataset(1) (t971), docs/reference/exodus-tools.md (t986) and the
# functions of the guides (t920, t1009, t1026, t1104); the programs of section 3 are the tutorial programs and
# examples/manual.c.  (For Open MPI, t924 runs this test in a clone.)
# SPDX-License-Identifier: BSD-3-Clause
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/project/user/shell.sh
. "$top/tests/project/user/shell.sh"
for file in LICENSE README.md docs/reference/files.md examples/step1_first.c examples/CMakeLists.txt; do
    [ -s "$doc/$file" ] || fail "$file was not installed"
done

# ---- commands after `make install`
sed -n '/^## First program/,/^## /s/^    //p' "$top/docs/howto/install.md" | places >first
grep '^export' first >>"$TUTTI_TEST_DIR/profile"
[ "$(grep -c '^export' first)" = 4 ] || fail 'not four lines for the profile'
grep -v -e '^export' -e '^make' first | sed 's|cmake --build steps|& -j2|' | follow docs/howto/install.md
[ "$(wc -l <followed)" = 5 ] || { fail 'not five lines after make install:'; cat followed; }
user 'man -w tutti && man -w tutti_file_open' || ! command -v man >/dev/null || { fail 'no manual page'; cat out; }

# ---- tutorial programs, built by pkg-config and clang; all are run
for step in "$doc"/examples/step*.c; do
    name=$(basename "$step" .c)
    [ "$name" = step2_ghost_cells ] || echo "mpirun -n 2 steps/$name"
    ! command -v clang >/dev/null ||
        echo "clang -Wall -Wextra -Werror -c -o $name.o $step \$(pkg-config --cflags tutti)"
done >steps.sh
follow steps <steps.sh
cp "$top/tests/project/user/user.cc" .
for cxx in c++ clang++; do
    command -v $cxx >/dev/null || continue
    echo "$cxx -Wall -Wextra -Werror -o user.$cxx user.cc \$(pkg-config --cflags --libs tutti-$mpi)"
    echo "mpirun -n 2 ./user.$cxx data"
done | follow 'C++'
if command -v clang >/dev/null; then
    echo "clang -o step3 step3_checkpoint_loop.o \$(pkg-config --libs tutti) -Wl,-rpath,$prefix/lib && mpirun -n 2 ./step3" | follow clang
fi

# ---- an existing program with MPI-IO, and files with the names of the pages
make_program
cp "$top/tests/cli/mixed.msh" device.msh && cp device.msh mesh.msh
mv step9.e run.e && cp run.e other.e || bad=1
user 'tutti exodus split run.e -n 16 -o run' || { fail 'no pieces'; cat out; }

# ---- README and reference
user "mpirun -n 2 steps/step6_dataset run.tutti 20" || { fail 'no dataset'; cat out; } # t1512 runs the program of README
grep '^    tutti [a-z]* ' "$top/README.md" | sed 's/^ *//; s/ *#.*//' | places | shorter | follow README.md
sed -n 's/^    \(tutti mesh [^(]*[^ (]\).*/\1/p' "$top/docs/reference/meshes.md" | sed 's/   .*//' | places | follow docs/reference/meshes.md
sed -n 's/^    \(mpirun -n 4 env LD_PRELOAD.*\)/\1/p' "$top/docs/reference/mpiio.md" | places | follow docs/reference/mpiio.md

# ---- the manual pages
rm device.mesh
for page in tutti.1 tutti-report.1 tutti-experiments.1 tutti-mesh.1 tutti-exodus.1 tutti-run.1 tutti-tune.1 tutti-options.7; do
    sed -n '/^\.SH EXAMPLES/,/^\.SH SEE/p' "$prefix/share/man/man${page##*.}/$page" | sed 's/\\-/-/g' |
        grep -E '^([A-Z_]+=[^ ]+ )*(tutti|tutti-report|mpirun) ' | grep -v TUTTI_FAULT | places | shorter | follow "$page"
done
# tutti-options(7) simulates a full disk on rank 3; here it is rank 0, which writes even if a profile by `tutti tune` chooses a
# single aggregator.
line=$(sed 's/\\-/-/g' "$prefix/share/man/man7/tutti-options.7" | grep '^TUTTI_FAULT' | places | sed 's|=3:write:2|=0:write:1|; s|\./program|steps/step1_first full.dat|')
echo "$line" >>followed
# the launcher of MPICH sometimes loses the message of a rank that aborts
reported=no
for attempt in 1 2 3 4 5 6; do
    [ -n "$line" ] && ! user "$line" && grep -q 'injected fault.*ENOSPC' out && reported=yes && break
done
if [ $reported = no ]; then
    fail "'$line' does not report a full disk in $attempt runs:"
    cat out
fi
[ "$(wc -l <followed)" -ge 50 ] || { fail 'too few lines were followed:'; cat followed; }
[ ! -s stumbled ] || { head -100 stumbled; bad=1; }
exit $bad
