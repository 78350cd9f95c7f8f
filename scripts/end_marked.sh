# end_marked.sh   to be sourced: functions for processes that have a mark in their environment.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh

# marked MARK: print the processes that inherited this mark
marked() {
    grep -lsazxF "$1" /proc/[0-9]*/environ | cut -d/ -f3 || :
}

# is_marked PID MARK: succeed if the process exists and has the mark
is_marked() {
    grep -qsazxF "$2" "/proc/$1/environ"
}

# end_marked MARK: end the marked processes, and wait until they have ended
end_marked() {
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        pids=$(marked "$1")
        [ -n "$pids" ] || return 0
        for pid in $pids; do
            kill -KILL "$pid" 2>/dev/null || :
        done
        sleep 0.05
    done
    echo "${0##*/}: processes are still running: $pids" >&2
    return 1
}
