#!/bin/sh
# packages.sh GROUP...   installs missing packages of groups of packages.txt; silent if none is missing.
#
# Requires root or sudo.  Otherwise, and on systems other than Debian, it prints the missing packages
# and succeeds: the tools may exist under other names, and the build reports missing ones.  Failures
# are errors only for required packages, not for optional ones, tools, and those of the long tests.
# TUTTI_NO_INSTALL=1: never install.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
list=$(dirname "$0")/../packages.txt

# packages_of GROUP: print the names of the packages of a group, one per line
packages_of() {
    sed -n "/^\[$1\]/,/^\[/{ /^[a-z0-9]/p }" "$list"
}

lacking() {
    for package in $(packages_of "$1"); do
        state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
        [ "$state" = installed ] || echo "$package"
    done
}

as_root=
if [ "$(id -u)" != 0 ]; then
    if command -v sudo >/dev/null 2>&1 && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
        as_root=sudo
    else
        as_root=none
    fi
fi

install() {
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@"
}

fresh=no
for group; do
    if [ -z "$(packages_of "$group")" ]; then
        echo "packages.sh: packages.txt has no group '$group'" >&2
        exit 2
    fi
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "not a Debian system; the group '$group' wants: $(packages_of "$group" | xargs)"
        continue
    fi
    missing=$(lacking "$group" | xargs)
    [ -n "$missing" ] || continue
    if [ "$as_root" = none ] || [ -n "${TUTTI_NO_INSTALL:-}" ]; then
        echo "not installed, group '$group': $missing"
        continue
    fi
    echo "installing, group '$group': $missing"
    if [ $fresh = no ]; then
        $as_root apt-get update -q || true
        fresh=yes
    fi
    # shellcheck disable=SC2086 # a list of names
    if install $missing; then
        continue
    fi
    case $group in
    optional | tools | long) ;;
    *)
        echo "packages.sh: could not install: $missing" >&2
        exit 1
        ;;
    esac
    for package in $missing; do
        install "$package" || echo "going on without $package"
    done
done
