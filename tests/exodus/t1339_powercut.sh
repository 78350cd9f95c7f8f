#!/bin/sh
# TEST ranks=0 timeout=600 cores=2
# Power cuts while a series of Exodus files and their sidecars are written: each step whose commit had returned is
# readable with its checksums, no step is incomplete, and a step can be appended.  Then the log is replayed once per
# sync of the library without this sync, and a cut must lose data: this shows that the test would detect it if
# the library omitted the sync.  t1270 does the same for datasets.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/dataset/powercut.sh"
powercut_build "$top/tests/exodus/powercut_exodus.c"
case ${TUTTI_TEST_TIER:-quick} in full) every=1 ;; *) every=40 ;; esac
powercut_record 2 durable
powercut_replay $every each
powercut_sites 7
powercut_record 1 visible
powercut_replay_harmed all
