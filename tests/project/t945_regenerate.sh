#!/bin/sh
# TEST ranks=0 timeout=180 builds=openmpi
# A build in a clone regenerates files if and only if their inputs change, with Ninja and with make: a new function gets a
# manual page, a Fortran interface and a Python declaration, which are removed with the function; pages follow changes
# of examples and options.  An undocumented function fails the build.
# SPDX-License-Identifier: BSD-3-Clause
set -u
# shellcheck source=tests/project/clone.sh
. "$(dirname "$0")/clone.sh"
cd "$TUTTI_TEST_DIR" || exit 1
bad=0
fail() {
    echo "$*"
    bad=1
}
clone_tree "$PWD/clone"
build() {
    sleep 0.01 # so that file times differ
    cmake --build build --parallel 2 --target generated_bindings generated_man >log 2>&1
}
# has FILE TEXT: check that a generated file contains TEXT
has() {
    grep -qs -e "$2" "build/generated/$1"
}
# new_function COMMENT: declare one more function in file.h
new_function() {
    sed "s|^TUTTI_END_DECLS|$1\nTUTTI_API tutti_err tutti_file_newer(tutti_file *f, int n) TUTTI_MUST_USE;\n&|" "$top/include/tutti/file.h" \
        >clone/include/tutti/file.h
    grep -q tutti_file_newer clone/include/tutti/file.h || fail 'file.h was not changed'
}

for generator in Ninja 'Unix Makefiles'; do
    [ "$generator" != Ninja ] || command -v ninja >/dev/null || continue
    rm -rf build
    cmake -G "$generator" -S clone -B build -DTUTTI_MPI=openmpi -DTUTTI_FORTRAN=OFF >log 2>&1 || { cat log; exit 1; }
    build || { cat log; exit 1; }
    for kind in fortran man python; do # pages of section 1 need the command, which is not built here
        diff -r -x '*.1' "build/generated/$kind" "$TUTTI_BUILD_DIR/generated/$kind" || fail "$generator: $kind differs from that of this build"
    done
    build
    grep -q Generating log && fail "$generator: a second build regenerates: $(cat log)"

    new_function '/** Set a number.\n *  Not collective. */'
    build || fail "$generator: the build fails with a new function: $(cat log)"
    has man/tutti_file_newer.3 'man3/tutti_file.3' || fail "$generator: a new function has no manual page"
    has man/tutti_file.3 'Set a number' || fail "$generator: the page does not describe the new function"
    has fortran/declarations.inc 'subroutine tutti_file_newer(' || fail "$generator: no Fortran interface"
    has fortran/entries.c 'tutti_file_newer(' || fail "$generator: no Fortran entry"
    has python/_api.py "'tutti_file_newer'" || fail "$generator: no Python declaration"
    new_function ''
    build && fail "$generator: an undocumented function is accepted"
    grep -q 'tutti_file_newer has no description' log || fail "$generator: the message is: $(cat log)"
    cp "$top/include/tutti/file.h" clone/include/tutti/file.h

    sed -i 's|^int main|/* A changed example. */\n&|' clone/examples/step1_first.c
    sed -i 's|method of collective requests|a changed option|' clone/include/tutti/options.h
    build || fail "$generator: the build fails with a changed example: $(cat log)"
    [ ! -e build/generated/man/tutti_file_newer.3 ] || fail "$generator: the page of a removed function stays"
    has fortran/entries.c tutti_file_newer && fail "$generator: the entry of a removed function stays"
    has man/tutti_file.3 'A changed example' || fail "$generator: the changed example is not in the page"
    has man/tutti-options.7 'a changed option' || fail "$generator: the changed option is not in the page"
    cp "$top/include/tutti/options.h" clone/include/tutti/
    cp "$top/examples/step1_first.c" clone/examples/
done
exit $bad
