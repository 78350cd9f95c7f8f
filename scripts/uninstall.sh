#!/bin/sh
# uninstall.sh PREFIX MPI   removes what `make install` put into PREFIX for that MPI, by the list that it left
# there; what another MPI's Tutti in the same prefix has too stays.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
prefix=${DESTDIR:-}$1
mpi=$2
lists=$(find "$prefix" -path "*/tutti/$mpi/files" -type f)
if [ ! -f "$lists" ]; then # none, or several
    echo "uninstall.sh: there is no Tutti for $mpi in $prefix" >&2
    exit 1
fi
others=$(find "$prefix" -path "*/tutti/*/files" -type f ! -path "*/tutti/$mpi/files")

# Plain names (bin/tutti) that lead to the other one belong to it, even if both have made them.
kept=$(mktemp)
trap 'rm -f "$kept"' EXIT
[ -z "$others" ] || echo "$others" | xargs sort -u >"$kept"
while IFS= read -r file; do
    if [ -L "$prefix/$file" ]; then
        case $(readlink "$prefix/$file") in
        *"$mpi"*) rm -f "$prefix/$file" ;;
        esac
    elif ! grep -qxF "$file" "$kept"; then
        rm -f "$prefix/$file"
    fi
done <"$lists"
# Plain names go over to the one that is left.
for list in $others; do
    other=$(basename "$(dirname "$list")")
    lib=${list%/tutti/"$other"/files}
    [ -e "$prefix/bin/tutti" ] || ln -s "tutti.$other" "$prefix/bin/tutti"
    [ -e "$lib/libtutti.so" ] || ln -s "libtutti_$other.so" "$lib/libtutti.so"
    [ -e "$lib/libtutti-mpiio.so" ] || ln -s "tutti/$other/libtutti-mpiio.so" "$lib/libtutti-mpiio.so"
    [ -e "$lib/pkgconfig/tutti.pc" ] || ln -s "tutti-$other.pc" "$lib/pkgconfig/tutti.pc"
    [ ! -e "$lib/libtutti-fortran_$other.so" ] || [ -e "$lib/libtutti-fortran.so" ] || {
        ln -s "libtutti-fortran_$other.so" "$lib/libtutti-fortran.so"
        ln -s "tutti-fortran-$other.pc" "$lib/pkgconfig/tutti-fortran.pc"
    }
done
# Folders that are empty now, and were made for it.
find "$prefix" -depth -type d \( -path '*/tutti' -o -path '*/tutti/*' -o -path '*/cmake/Tutti' \
    -o -path '*/lib/cmake' -o -path '*/pkgconfig' -o -path '*/lib/fortran*' \) -exec rmdir {} + 2>/dev/null || true
echo "removed: Tutti for $mpi from $prefix"
