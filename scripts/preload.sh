#!/bin/sh
# preload.sh LIBRARY command...   runs a command with a library preloaded before the libraries of LD_PRELOAD.
#
# For the ranks of a program: mpirun -n 4 scripts/preload.sh lib/libtutti-mpiio.so ./program
# SPDX-License-Identifier: BSD-3-Clause
set -eu
library=$1
shift
case $library in *' '*) # a space separates names in LD_PRELOAD: use LD_LIBRARY_PATH and the file name
    export LD_LIBRARY_PATH="${library%/*}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
    library=${library##*/}
    ;;
esac
LD_PRELOAD="$library${LD_PRELOAD:+:$LD_PRELOAD}" exec "$@"
