#!/bin/sh
# TEST ranks=0 timeout=180 builds=mpich cores=2
# A new user: Tutti in a fresh prefix, an environment that knows nothing of it, and what is told to do, line by line: docs/howto/install.md
# ("The first program"), the steps by CMake and by pkg-config, with gcc and clang, in C and C++, the README's and the guides' lines, the
# examples of the manual pages.  (Those of tutti-array(1), tutti-dataset(1) and docs/reference/exodus-tools.md are run by t960, t971 and
# t986, the functions of the guides by t920, t1009, t1026 and t1104; the programs of section 3 are the steps and examples/manual.c.)
# (For Open MPI t924 runs it, in a clone.)
# SPDX-License-Identifier: BSD-3-Clause
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
mpi=$TUTTI_MPI
# pkg-config prints paths without quotes: no prefix with a space.
case $TUTTI_TEST_DIR in *' '*)
    TUTTI_TEST_DIR=$(mktemp -d /var/tmp/tutti-test.XXXXXX)
    trap 'rm -rf "$TUTTI_TEST_DIR"' EXIT
    ;;
esac
prefix=$TUTTI_TEST_DIR/opt/tutti
doc=$prefix/share/doc/tutti
bad=0
fail() {
    echo "$*"
    bad=1
}
cmake --install "$TUTTI_BUILD_DIR" --prefix "$prefix" >/dev/null || exit 1
for file in LICENSE README.md docs/reference/files.md examples/step1_first.c examples/CMakeLists.txt; do
    [ -s "$doc/$file" ] || fail "$file was not installed"
done
mkdir -p "$TUTTI_TEST_DIR/bin" "$TUTTI_TEST_DIR/user/scratch" "$TUTTI_TEST_DIR/user/home" "$TUTTI_TEST_DIR/user/shm"
ln -s "$(command -v "mpirun.$mpi")" "$TUTTI_TEST_DIR/bin/mpirun"
[ "$mpi" = openmpi ] || ln -s "$(command -v hydra_pmi_proxy)" "$TUTTI_TEST_DIR/bin" # which is looked for beside it
cd "$TUTTI_TEST_DIR/user" || exit 1

# What a user's shell has: the two cores of a test are taken for as many as it wants, nothing leaves the machine.
cat >"$TUTTI_TEST_DIR/profile" <<END
export HOME=$PWD/home TMPDIR=$TUTTI_TEST_DIR LC_ALL=C.UTF-8 PATH=$TUTTI_TEST_DIR/bin:/usr/bin:/bin
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_osc=^ucx OMPI_MCA_ess_singleton_isolated=1
export PMIX_MCA_ptl_tcp_if_include=lo OMPI_MCA_oob_tcp_if_include=lo HYDRA_IFACE=lo UCX_TLS=sm,self UCX_NET_DEVICES=lo
END
# user COMMAND: in a fresh shell that has read the profile
user() {
    env -i sh -c ". $TUTTI_TEST_DIR/profile; $1" >out 2>&1 </dev/null
}
# follow PAGE: its lines, each as it stands, but for places and numbers of ranks
: >followed
: >stumbled
follow() {
    while IFS= read -r line; do
        echo "$line" >>followed
        case $line in
        *" join run.e.16.00 -o run.e") mv run.e joined.e ;; # it is not there yet
        esac
        user "$line" || { echo "$1: $line: exit code $?"; cat out; } >>stumbled
    done
}
places() {
    sed "s|/scratch/me|scratch|; s|/home/me|home|; s|/scratch|scratch|; s|/dev/shm|shm|; s|/opt/tutti|$prefix|g; s|/usr/local|$prefix|g
        s|/tmp/meshes/bjt.msh|device.msh|; s|mpirun -\(np*\) [0-9]*|mpirun -\1 2|; s|./your_program|./program|"
}
# shorter: measurements that only show that they run
shorter() {
    sed 's|tutti bench --.*|& --size 16k --rounds 1 --budget 1|; s|tutti-experiments p.*|& --quick --size 64k --rounds 1 --series 1 --procs 2|
        s|tutti tune .*|& --quick|; s|--compare|& --rounds 1|; s|--rounds 7||'
}

# ---- what to do after `make install`
sed -n '/^## The first program/,/^## /s/^    //p' "$top/docs/howto/install.md" | places >first
grep '^export' first >>"$TUTTI_TEST_DIR/profile"
[ "$(grep -c '^export' first)" = 4 ] || fail 'not four lines for the profile'
grep -v -e '^export' -e '^make' first | sed 's|cmake --build steps|& -j2|' | follow docs/howto/install.md
[ "$(wc -l <followed)" = 5 ] || { fail 'not five lines after make install:'; cat followed; }
user 'man -w tutti && man -w tutti_file_open' || ! command -v man >/dev/null || { fail 'no manual page'; cat out; }

# ---- the steps: by CMake and gcc above, by pkg-config and clang; all run
for step in "$doc"/examples/step*.c; do
    name=$(basename "$step" .c)
    [ "$name" = step2_ghost_cells ] || echo "mpirun -n 2 steps/$name"
    ! command -v clang >/dev/null ||
        echo "clang -Wall -Wextra -Werror -c -o $name.o $step \$(pkg-config --cflags tutti)"
done >steps.sh
follow steps <steps.sh
cp "$top/tests/house/user/user.cc" .
for cxx in c++ clang++; do
    command -v $cxx >/dev/null || continue
    echo "$cxx -Wall -Wextra -Werror -o user.$cxx user.cc \$(pkg-config --cflags --libs tutti-$mpi)"
    echo "mpirun -n 2 ./user.$cxx data"
done | follow 'C++'
if command -v clang >/dev/null; then
    echo "clang -o step3 step3_checkpoint_loop.o \$(pkg-config --libs tutti) -Wl,-rpath,$prefix/lib && mpirun -n 2 ./step3" | follow clang
fi

# ---- a program that does MPI-IO already, and files as the pages name them
cat >program.c <<'END'
#include <mpi.h>
int main(int argc, char **argv) {
    char mine[4096] = {0};
    int rank;
    MPI_File f;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_File_open(MPI_COMM_WORLD, "program.dat", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
    MPI_File_write_at_all(f, 4096 * rank, mine, 4096, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&f);
    MPI_Finalize();
    return 0;
}
END
"mpicc.$mpi" -o program program.c || fail 'no program'
cp "$top/tests/cli/mixed.msh" device.msh && cp device.msh mesh.msh
mv step9.e run.e && cp run.e other.e || bad=1
user 'tutti exodus split run.e -n 16 -o run' || { fail 'no pieces'; cat out; }

# ---- the README, the guides
grep '^    tutti ' "$top/README.md" | sed 's/^ *//; s/ *#.*//' | places | shorter | follow README.md
sed -n 's/^    \(tutti mesh [^(]*[^ (]\).*/\1/p' "$top/docs/reference/meshes.md" | sed 's/   .*//' | places | follow docs/reference/meshes.md
sed -n 's/^    \(mpirun -n 4 env LD_PRELOAD.*\)/\1/p' "$top/docs/reference/mpiio.md" | places | follow docs/reference/mpiio.md

# ---- the manual pages
rm device.mesh
for page in tutti.1 tutti-report.1 tutti-experiments.1 tutti-mesh.1 tutti-exodus.1 tutti-run.1 tutti-tune.1 tutti-options.7; do
    sed -n '/^\.SH EXAMPLES/,/^\.SH SEE/p' "$prefix/share/man/man${page##*.}/$page" | sed 's/\\-/-/g' |
        grep -E '^([A-Z_]+=[^ ]+ )*(tutti|tutti-report|mpirun) ' | grep -v TUTTI_FAULT | places | shorter | follow "$page"
done
[ "$(wc -l <followed)" -ge 50 ] || { fail 'too few lines were followed:'; cat followed; }
[ ! -s stumbled ] || { head -100 stumbled; bad=1; }
exit $bad
