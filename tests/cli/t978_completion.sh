#!/usr/bin/env bash
# TEST ranks=0 timeout=60 builds=openmpi
# Completion: bash completes commands, subcommands, options and values; zsh and fish, if installed, accept their
# scripts, and fish completes commands.
# SPDX-License-Identifier: BSD-3-Clause
[ -n "${BASH_VERSION:-}" ] || exec bash "$0"
set -u
cd "$TUTTI_TEST_DIR" || exit 1
for shell in bash zsh fish; do
    "$TUTTI_BUILD_DIR/tutti" completion $shell >$shell.out || exit 1
    ! command -v $shell >/dev/null || $shell -n $shell.out || { echo "$shell does not take it"; exit 1; }
done
# shellcheck disable=SC1091
source ./bash.out
bad=0
# typed WORD... -- EXPECTED...: check the completions of the last word
typed() {
    COMP_WORDS=(tutti)
    while [ "$1" != -- ]; do
        COMP_WORDS+=("$1")
        shift
    done
    shift
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    COMPREPLY=()
    _tutti
    [ "${COMPREPLY[*]}" = "$*" ] && return
    echo "after '${COMP_WORDS[*]}': '${COMPREPLY[*]}', not '$*'"
    bad=1
}
typed ver -- verify version
typed mesh pa -- partition
typed mesh --by '' -- metis curve rcb
typed bench --exchange s -- shm
typed array tra -- transpose
typed dump --sl -- --slice
typed help mes -- mesh
typed completion '' -- bash zsh fish --help --version --color --progress
typed completion f -- fish
typed diff --by '' -- position id
typed split --ju --
typed exodus --par -- --parts
typed no-command '' --
if command -v fish >/dev/null; then
    fish -c 'source fish.out; complete -C "tutti mesh --by "' | sort | tr '\n' ' ' | grep -qx 'curve metis ' ||
        { echo "fish offers something else"; bad=1; }
fi
if "$TUTTI_BUILD_DIR/tutti" completion csh 2>/dev/null; then echo "csh is no shell that we know"; bad=1; fi
exit $bad
