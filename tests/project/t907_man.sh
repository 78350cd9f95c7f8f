#!/bin/sh
# TEST ranks=0 timeout=60
# groff reads the manual pages without a warning.
# SPDX-License-Identifier: BSD-3-Clause
cd "$(dirname "$0")/../.." || exit 1
if ! command -v groff >/dev/null; then
    echo "groff is not installed (Debian: apt-get install groff)"
    exit 77
fi
bad=0
for page in docs/man/*.[17] "$TUTTI_BUILD_DIR"/generated/man/*.[137]; do
    case $(head -c 4 "$page") in ".so ") continue ;; esac # a link, see t921_api_man.sh
    said=$(groff -man -Tutf8 -ww -rLL=100n "$page" 2>&1 >/dev/null)
    [ -z "$said" ] || { echo "$page: $said"; bad=1; }
done
exit $bad
