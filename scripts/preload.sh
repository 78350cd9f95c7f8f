#!/bin/sh
# preload.sh LIBRARY command...   runs a command with a library preloaded, before those that already are.
#
# For the ranks of a program: mpirun -n 4 scripts/preload.sh lib/libtutti-mpiio.so ./program
# SPDX-License-Identifier: BSD-3-Clause
set -eu
library=$1
shift
case $library in *' '*) # separates names in LD_PRELOAD: the loader finds it by its name
    export LD_LIBRARY_PATH="${library%/*}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
    library=${library##*/}
    ;;
esac
LD_PRELOAD="$library${LD_PRELOAD:+:$LD_PRELOAD}" exec "$@"
