#!/bin/sh
# TEST ranks=0 timeout=1500 builds=openmpi tier=full
# Debian packages are built from the archive of `make dist` without errors of lintian.  Installed together in a new root
# of debootstrap, they run a program in C and one in Python for each MPI, and leave no files after their removal.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/project/clone.sh
. "$here/clone.sh"
for tool in dh:debhelper dh_python3:dh-python lintian:lintian debootstrap:debootstrap; do
    command -v "${tool%:*}" >/dev/null || { echo "skipped: there is no ${tool%:*} (package ${tool#*:})"; exit 77; }
done
[ "$(id -u)" = 0 ] || { echo "skipped: debootstrap wants root"; exit 77; }
cd "$TUTTI_TEST_DIR"
clone_archive "$PWD/archive"
(cd archive && dpkg-buildpackage -us -uc -b >../log 2>&1) || { tail -30 log; exit 1; }
lintian --fail-on error -- *.changes || exit 1

# Use the package sources of this machine in the new root directory.
# shellcheck disable=SC2016 # a variable of apt
mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep -v security | head -1)
# shellcheck disable=SC1091
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
root=$PWD/root
trap 'umount "$root/proc" 2>/dev/null || true; rm -rf "$root"' EXIT
debootstrap --variant=minbase --include=ca-certificates "$suite" "$root" "$mirror" >log 2>&1 || { tail -5 log; exit 1; }
mount -t proc proc "$root/proc"
mkdir "$root/debs" && cp ./*.deb "$here/user/user.c" "$here/user/user.py" "$root/debs"
rm -f "$root"/debs/*dbgsym*
inside() { chroot "$root" env DEBIAN_FRONTEND=noninteractive OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$@"; }
inside sh -c 'apt-get install -y --no-install-recommends gcc libc6-dev pkg-config python3-mpi4py python3-xarray /debs/*.deb' >log 2>&1 || { tail -30 log; exit 1; }
for mpi in openmpi mpich; do
    inside sh -ec "cc -o /debs/user /debs/user.c \$(pkg-config --cflags --libs tutti-$mpi)
        oversubscribe=; [ $mpi = mpich ] || oversubscribe='--oversubscribe --mca btl self,vader'
        timeout 60 mpirun.$mpi \$oversubscribe -n 2 /debs/user /debs/data
        TUTTI_LIBRARY=libtutti_$mpi.so.1 timeout 60 mpirun.$mpi \$oversubscribe -n 2 python3 /debs/user.py /debs/$mpi.tta
        tutti.$mpi version" || { echo "$mpi: failed"; exit 1; }
done
inside tutti version
inside sh -c 'rm /debs/*.tta; timeout 60 python3 /debs/user.py /debs/alone.tta' # finds the library for the MPI of mpi4py
inside sh -c "dpkg -P \$(dpkg-query -W -f '\${Package}\n' | grep tutti)" >log 2>&1 || { cat log; exit 1; }
[ -z "$(find "$root/usr" -iname '*tutti*')" ] || { find "$root/usr" -iname '*tutti*'; echo "left behind"; exit 1; }
