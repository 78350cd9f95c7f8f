#!/bin/sh
# TEST ranks=0 timeout=60
# The sources contain no marks of unfinished work.
# SPDX-License-Identifier: BSD-3-Clause
cd "$(dirname "$0")/../.." || exit 1
words='TO''DO|FIX''ME|XX''X|HA''CK'
if grep -rIsnwE "$words" include src bindings mpiio cli experiments examples tests scripts cmake docs ./*.md ||
    grep -rIsn '^ *#if 0' include src bindings mpiio cli experiments examples tests; then
    exit 1
fi
