#!/bin/sh
# uninstall.sh PREFIX MPI   removes from PREFIX (below $DESTDIR, if set) the files that `make
# install` installed for that MPI, as listed in LIBDIR/tutti/MPI/files, and the directories that it
# created, if they are empty.  Files that an installation for another MPI also lists are kept.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
prefix=${DESTDIR:-}$1
mpi=$2

# manifests PATTERN: print the lists whose path ends with PATTERN, relative to the prefix.  A list contains its
# own path, so that lists of installations in other prefixes below this prefix are recognized and skipped.
manifests() {
    find . -path "./*/tutti/$1/files" -type f | cut -c3- | while IFS= read -r list; do
        ! grep -qxF "$list" "$list" || echo "$list"
    done
}
cd "$prefix" 2>/dev/null || { echo "uninstall.sh: directory '$prefix' does not exist" >&2; exit 1; }
prefix=$PWD
list=$(manifests "$mpi")
if [ ! -f "$list" ]; then # no list, or several
    echo "uninstall.sh: '$prefix' must contain exactly one installation of Tutti for $mpi" >&2
    exit 1
fi
others=$(manifests '*' | grep -vxF "$list" || true)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
grep -v '/$' "$list" >"$work/files"
grep '/$' "$list" | LC_ALL=C sort -ru >"$work/directories" || true # subdirectories before their parents
: >"$work/kept"
echo "$others" | while IFS= read -r other; do
    [ -z "$other" ] || cat "$other" >>"$work/kept"
done

# Links with plain names (bin/tutti) belong to the MPI that they point to, even if both lists contain them.
while IFS= read -r file; do
    if [ -L "$file" ]; then
        case $(readlink "$file") in
        *"$mpi"*) rm -f "$file" ;;
        esac
    else
        echo "$file"
    fi
done <"$work/files" >"$work/plain"
grep -vxFf "$work/kept" "$work/plain" | tr '\n' '\0' | xargs -0 rm -f
# Make plain names point to the remaining installation.
echo "$others" | while IFS= read -r other; do
    [ -n "$other" ] || continue
    name=$(basename "$(dirname "$other")")
    lib=${other%/tutti/"$name"/files}
    for command in tutti tutti-experiments; do
        [ -e bin/$command ] || ln -s "$command.$name" bin/$command
    done
    [ -e "$lib/libtutti.so" ] || ln -s "libtutti_$name.so" "$lib/libtutti.so"
    [ -e "$lib/libtutti-mpiio.so" ] || ln -s "tutti/$name/libtutti-mpiio.so" "$lib/libtutti-mpiio.so"
    [ -e "$lib/pkgconfig/tutti.pc" ] || ln -s "tutti-$name.pc" "$lib/pkgconfig/tutti.pc"
    [ ! -e "$lib/libtutti-fortran_$name.so" ] || [ -e "$lib/libtutti-fortran.so" ] || {
        ln -s "libtutti-fortran_$name.so" "$lib/libtutti-fortran.so"
        ln -s "tutti-fortran-$name.pc" "$lib/pkgconfig/tutti-fortran.pc"
    }
done
cd /
while IFS= read -r dir; do
    dir=$prefix/${dir%/}
    rmdir "${dir%/.}" 2>/dev/null || true # not empty: contains other files
done <"$work/directories"
echo "removed: Tutti for $mpi from $prefix"
