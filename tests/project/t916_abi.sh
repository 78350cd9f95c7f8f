#!/bin/sh
# TEST ranks=0 timeout=300 builds=openmpi
# scripts/check_abi.sh: a library may replace itself and a library with fewer functions, but not a library with a
# different argument or an additional function; the same for a small project with its own release; the current build is
# compared with the last release, if a tag exists.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$TUTTI_TEST_DIR"
command -v abidiff >/dev/null || { echo "skipped: there is no abidiff (package abigail-tools)"; exit 77; }
mkdir -p include
echo 'struct point { int x; }; int first(struct point *p); int second(int);' >include/both.h
# library NAME SOURCE: build the shared library NAME.so
library() {
    printf '#include "both.h"\n%s\n' "$2" >"$1.c"
    ${CC:-cc} -g -shared -fPIC -Iinclude -Wl,-soname,libboth.so.1 -o "$1.so" "$1.c"
}
library two 'int first(struct point *p) { return p->x; } int second(int a) { return a; }'
library three 'int first(struct point *p) { return p->x; } int second(int a) { return a; } int third(void) { return 3; }'
sed 's/struct point {/struct point { long before;/' include/both.h >other.h && mv other.h include/both.h
library changed 'int first(struct point *p) { return p->x; } int second(int a) { return a; }'

# expect STATUS OLD NEW: check the exit status of check_abi.sh
expect() {
    status=0
    "$top/scripts/check_abi.sh" "$2" "$3" include >out 2>&1 || status=$?
    [ $status = "$1" ] || { cat out; echo "$2 -> $3: status $status, not $1"; exit 1; }
}
expect 0 two.so two.so
expect 0 two.so three.so
expect 1 three.so two.so
expect 1 two.so changed.so
expect 0 "$TUTTI_BUILD_DIR/libtutti.so" "$TUTTI_BUILD_DIR/libtutti.so"

# a project with a release: the current build compared with the release in git
mkdir -p project/scripts project/include/tutti
cp "$top/scripts/check_abi.sh" project/scripts/
cat >project/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.16)
project(small C)
set(TUTTI_MPI openmpi CACHE STRING "")
add_library(tutti SHARED both.c)
target_include_directories(tutti PRIVATE include)
set_target_properties(tutti PROPERTIES OUTPUT_NAME tutti_${TUTTI_MPI} VERSION 1.0.0 SOVERSION 1)
END
echo 'struct point { int x; }; int first(struct point *p);' >project/include/tutti/both.h
printf '#include <tutti/both.h>\nint first(struct point *p) { return p->x; }\n' >project/both.c
git init -q project
git -C project add -A
git -C project -c user.name=t -c user.email=t@t commit -qm one
git -C project tag v1.0.0
# against STATUS: compare the release with the current tree
against() {
    cmake -S project -B project/build/now -DCMAKE_BUILD_TYPE=RelWithDebInfo >/dev/null
    cmake --build project/build/now >/dev/null
    status=0
    project/scripts/check_abi.sh --tag v1.0.0 project/build/now >out 2>&1 || status=$?
    [ $status = "$1" ] || { cat out; echo "the project's release: status $status, not $1"; exit 1; }
}
echo 'int second(void) { return 2; }' >>project/both.c
against 0
sed -i 's/int x;/int x[2];/' project/include/tutti/both.h
sed -i 's/p->x;/p->x[0];/' project/both.c
against 1

tag=$(git -C "$top" describe --tags --abbrev=0 --match 'v*' 2>/dev/null || true)
[ -z "$tag" ] || "$top/scripts/check_abi.sh" --tag "$tag" "$TUTTI_BUILD_DIR"
