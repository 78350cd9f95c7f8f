#!/bin/sh
# TEST ranks=0 timeout=60 builds=mpich
# `make uninstall` restores the tree to its state before the installation: for a prefix whose path contains /tutti/ and a
# space, with empty directories of other programs below and next to it; for a new prefix; with DESTDIR; for a prefix
# behind a symbolic link; with a second installation in a directory below the prefix.  (For Open MPI, t924 runs this
# test in a clone.)
# SPDX-License-Identifier: BSD-3-Clause
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
base=$TUTTI_TEST_DIR/opt/tutti
mkdir -p "$base"

fail() {
    echo "$*"
    exit 1
}
tree() {
    find "$TUTTI_TEST_DIR/opt" | sort
}
install() {
    cmake --install "$TUTTI_BUILD_DIR" --prefix "$1" >/dev/null
    [ -e "${DESTDIR:-}$1/bin/tutti" ] || fail "not installed: $1"
}
uninstall() {
    make -s -C "$top" uninstall PREFIX="$1" MPI="$TUTTI_MPI" >/dev/null
}
# restored WHAT COMMAND...: check that the command leaves the tree unchanged
restored() {
    before=$(tree)
    what=$1
    shift
    "$@"
    after=$(tree)
    [ "$before" = "$after" ] || fail "$what: before: $before
after: $after"
}
there_and_back() {
    install "$1"
    uninstall "$1"
}

# Directories of other programs that a rule by name would match, and files next to installed ones.
old="$base/an old prefix"
for dir in "$old/tutti" "$old/lib/tutti/other" "$old/lib/cmake/Other" "$old/lib/pkgconfig" "$old/share/doc/tutti" "$old/tutti/$TUTTI_MPI" \
    "$base/tutti" "$base/lib/cmake"; do
    mkdir -p "$dir"
done
touch "$old/tutti/$TUTTI_MPI/files" "$old/share/doc/readme"
restored 'directories of others' there_and_back "$old"
restored 'a fresh prefix' there_and_back "$base/fresh"

twice() {
    install "$old"
    there_and_back "$old"
}
restored 'installed twice' twice

DESTDIR=$TUTTI_TEST_DIR/opt/stage/
mkdir -p "$DESTDIR/tutti"
export DESTDIR
staged() {
    there_and_back /usr/tutti
    rmdir "$DESTDIR/usr" # not part of the prefix
}
restored DESTDIR staged
unset DESTDIR

ln -s "an old prefix" "$base/link"
restored 'a symbolic link' there_and_back "$base/link"

nested() {
    install "$old/tutti"
    install "$old"
    uninstall "$old"
    [ -e "$old/tutti/bin/tutti" ] || fail 'the installation below the prefix was removed'
    uninstall "$old/tutti"
}
restored 'a prefix below' nested

# A directory that the installation has created is kept if it contains a file of another program.
install "$base/fresh"
touch "$base/fresh/include/tutti/mine.h"
uninstall "$base/fresh"
left=$(cd "$base/fresh" && find . ! -type d)
[ "$left" = ./include/tutti/mine.h ] || fail "left: $left"
[ ! -d "$base/fresh/lib" ] || fail 'an empty directory was left'
if uninstall "$base/fresh" 2>/dev/null; then fail 'uninstalling twice succeeds'; fi
