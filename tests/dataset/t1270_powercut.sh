#!/bin/sh
# TEST ranks=0 timeout=900 cores=2
# Power cuts: all file operations of a writer are recorded, including those of SQLite, for both
# containers, with archives and repairs.  The power is cut wherever a missing sync could be detected, and after some
# other records (tier=full: after each record): data that was not synced is lost, torn or reordered.  Every segment
# whose commit had returned is readable, no segment is incomplete, and writing continues.  Then the log is
# replayed once per sync of the library without this sync, and a cut must lose data: this shows that the test
# would detect it if the library omitted the sync.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/dataset/powercut.sh"
powercut_build "$top/tests/dataset/powercut_dataset.c"
case ${TUTTI_TEST_TIER:-quick} in full) every=1 ;; *) every=40 ;; esac
if command -v ncvalidator >/dev/null && [ $every = 1 ]; then export TEST_VALIDATOR=1; fi

powercut_record 1 durable
powercut_replay $every all
powercut_record 2 durable
powercut_replay $every each
export TEST_CONTAINER=netcdf
powercut_record 2 durable
powercut_replay $every each
unset TEST_CONTAINER
powercut_sites 16
# Check that cuts lose data if nothing is synced, and if only SQLite syncs (level visible).
powercut_record 1 durable
powercut_replay_harmed none
powercut_record 1 visible
powercut_replay_harmed all
