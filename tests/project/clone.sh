# shellcheck shell=sh
# Functions of t914, t924, t925, t944 and t945, to be sourced: clones of this tree, and the archive of `make dist`.
# SPDX-License-Identifier: BSD-3-Clause
top=$(cd "$(dirname "$0")/../.." && pwd)
unset MAKEFLAGS MFLAGS MAKELEVEL || true

# clone_tree DIR: copy the files that git tracks or would add, in their current state
clone_tree() {
    git -C "$top" rev-parse --git-dir >/dev/null 2>&1 || { echo "skipped: this is not a git clone"; exit 77; }
    mkdir -p "$1"
    (cd "$top" && git -c core.quotePath=off ls-files -co --exclude-standard | while IFS= read -r file; do
        [ ! -e "$file" ] || echo "$file" # without removed files
    done | tar c -T -) | tar x -C "$1"
}

# clone_commit DIR: create a repository with these files in one commit
clone_commit() {
    clone_tree "$1"
    git init -q "$1"
    git -C "$1" add -A
    git -C "$1" -c user.name=t -c user.email=t@t commit -qm all
}

# clone_archive DIR: create the archive of `make dist` from this tree and unpack it into DIR
clone_archive() {
    clone_commit "$1.clone"
    "$1.clone/scripts/dist.sh" "$1.dist" "$TUTTI_BUILD_DIR/generated" >/dev/null || exit 1
    mkdir "$1"
    tar xzf "$1.dist"/tutti-*.tar.gz --strip-components=1 -C "$1"
    rm -rf "$1.clone" "$1.dist"
}

# clone_build DIR TARGET...: build as `make`, but without optimization, which needs most of the time; with clang, if
# installed, so that t905 need not check these sources
clone_build() {
    dir=$1
    shift
    (
        cd "$dir" || exit 1
        export CMAKE_BUILD_TYPE=Debug CFLAGS=-g0
        if command -v clang >/dev/null; then
            mkdir -p "$TUTTI_TEST_DIR/binding" # only the header of Fortran descriptors: clang must not find other headers of gcc
            ln -sf "$(gcc -print-file-name=include)/ISO_Fortran_binding.h" "$TUTTI_TEST_DIR/binding/"
            export CC=clang WERROR=ON CFLAGS="-g0 -idirafter '$TUTTI_TEST_DIR/binding'"
        fi
        scripts/build.sh openmpi "$@"
    ) >"$TUTTI_TEST_DIR/log" 2>&1 || {
        echo "$dir: the build fails:"
        tail -n 40 "$TUTTI_TEST_DIR/log"
        exit 1
    }
}

# clone_test DIR TEST: run a test in the clone as ctest does; if it fails, append its output to $TUTTI_TEST_DIR/failed
clone_test() {
    stem=$(basename "$1/tests/project/$2"_*.sh .sh)
    (cd "$1" && env TUTTI_BUILD_DIR="$1/build/openmpi" TUTTI_COMMAND="$1/build/openmpi/tutti" TUTTI_TEST_DIR="$1/scratch" \
        bash scripts/run_test.sh "clone.$stem" 250 openmpi 0 sh "$1/tests/project/$stem.sh") >"$TUTTI_TEST_DIR/$2.out" 2>&1
    code=$?
    [ $code = 0 ] || { echo "$1: $stem: exit code $code"; cat "$TUTTI_TEST_DIR/$2.out"; } >>"$TUTTI_TEST_DIR/failed"
}

# clone_try DIR TEST...: build library, command and drop-in, then run these tests in parallel
clone_try() {
    clone_build "$1" installed
    dir=$1
    shift
    for name; do clone_test "$dir" "$name" & done
    wait
    [ ! -s "$TUTTI_TEST_DIR/failed" ] || { cat "$TUTTI_TEST_DIR/failed"; exit 1; }
}
