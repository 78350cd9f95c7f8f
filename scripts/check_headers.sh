#!/bin/sh
# check_headers.sh [INCLUDE_DIR] -- FLAGS...   compiles each public header alone, as C11 and as C++17.
# FLAGS are the compiler flags of the MPI.
# SPDX-License-Identifier: BSD-3-Clause
set -u
dir=$(dirname "$0")/../include
if [ "$1" != -- ]; then
    dir=$1
    shift
fi
shift
bad=0
for header in "$dir"/tutti/*.h; do
    name=tutti/$(basename "$header")
    printf '#include <%s>\n' "$name" |
        ${CC:-cc} -x c -std=c11 -pedantic -Wall -Wextra -Werror -fsyntax-only -I"$dir" "$@" - ||
        { echo "$name does not compile alone as C11"; bad=1; }
    printf '#include <%s>\n' "$name" |
        ${CXX:-c++} -x c++ -std=c++17 -Wall -Wextra -Werror -fsyntax-only -I"$dir" "$@" - ||
        { echo "$name does not compile alone as C++17"; bad=1; }
done
exit $bad
