# shell.sh: the shell of a new user, sourced by tests that run the commands of pages.  Sets prefix and doc, installs the
# build, and defines fail, user, follow and places.
# shellcheck shell=sh disable=SC2034 # variables are for the tests
# SPDX-License-Identifier: BSD-3-Clause
mpi=$TUTTI_MPI
# pkg-config does not quote paths: use a directory without spaces.
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
mkdir -p "$TUTTI_TEST_DIR/bin" "$TUTTI_TEST_DIR/user/scratch" "$TUTTI_TEST_DIR/user/home" "$TUTTI_TEST_DIR/user/shm"
ln -s "$(command -v "mpirun.$mpi")" "$TUTTI_TEST_DIR/bin/mpirun"
[ "$mpi" = openmpi ] || ln -s "$(command -v hydra_pmi_proxy)" "$TUTTI_TEST_DIR/bin" # mpirun searches for it in its own directory
cd "$TUTTI_TEST_DIR/user" || exit 1

# The profile lets ranks share the cores of the test and keeps connections on this machine.
cat >"$TUTTI_TEST_DIR/profile" <<END
export HOME=$PWD/home TMPDIR=$TUTTI_TEST_DIR LC_ALL=C.UTF-8 PATH=$TUTTI_TEST_DIR/bin:/usr/bin:/bin
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_osc=^ucx OMPI_MCA_ess_singleton_isolated=1
export PMIX_MCA_ptl_tcp_if_include=lo OMPI_MCA_oob_tcp_if_include=lo HYDRA_IFACE=lo UCX_TLS=sm,self UCX_NET_DEVICES=lo
END
# user COMMAND: run a command in a new shell that has read the profile
user() {
    env -i sh -c ". $TUTTI_TEST_DIR/profile; $1" >out 2>&1 </dev/null
}
# follow PAGE: run the lines of standard input; append those that fail to `stumbled`
: >followed
: >stumbled
follow() {
    while IFS= read -r line; do
        echo "$line" >>followed
        case $line in
        *" join run.e.16.00 -o run.e") mv run.e joined.e ;; # join creates it
        esac
        user "$line" || { echo "$1: $line: exit code $?"; cat out; } >>stumbled
    done
}
# places: replace directories, programs and numbers of ranks of the pages by those of the test
places() {
    sed "s|/scratch/me|scratch|; s|/home/me|home|; s|/scratch|scratch|; s|/dev/shm|shm|; s|/opt/tutti|$prefix|g; s|/usr/local|$prefix|g
        s|/tmp/meshes/bjt.msh|device.msh|; s|mpirun -\(np*\) [0-9]*|mpirun -\1 2|; s|./your_program|./program|; s|lib/tutti/openmpi/|lib/tutti/$mpi/|g"
}
# shorter: shorten measurements
shorter() {
    sed 's|tutti bench --.*|& --size 16k --rounds 1 --budget 1|; s|tutti-experiments p.*|& --quick --size 64k --rounds 1 --series 1 --procs 2|
        s|tutti tune .*|& --quick|; s|--compare|& --rounds 1|; s|--rounds 7||'
}
# make_program: create and compile a program with MPI-IO
make_program() {
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
    "mpicc.$mpi" -o program program.c || fail 'the program does not compile'
}
