#!/bin/sh
# TEST ranks=0 timeout=60
# tutti diff of Exodus files and of datasets: an infinite value equals only the same infinity, and NaN only NaN,
# regardless of tolerances; JSON stays valid.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck source=tests/cli/common.sh
. "$(dirname "$0")/common.sh"
command -v ncgen >/dev/null || { echo "no ncgen (Debian: netcdf-bin)"; exit 77; }

# points NAME VALUES: write an Exodus file and a dataset with a nodal variable u of eight nodes
points() {
    cat >"$1.cdl" <<CDL
netcdf points {
dimensions: len_string = 33; len_name = 33; len_line = 81; four = 4; time_step = UNLIMITED; num_dim = 1; num_nodes = 8; num_elem = 1;
    num_el_blk = 1; num_el_in_blk1 = 1; num_nod_per_el1 = 1; num_nod_var = 1;
variables: double time_whole(time_step); int eb_status(num_el_blk); int eb_prop1(num_el_blk); eb_prop1:name = "ID";
    double coordx(num_nodes); int connect1(num_el_in_blk1, num_nod_per_el1); connect1:elem_type = "SPHERE";
    char name_nod_var(num_nod_var, len_name); double vals_nod_var1(time_step, num_nodes);
    :api_version = 5.14f; :version = 5.14f; :floating_point_word_size = 8; :file_size = 1; :title = "points";
data: time_whole = 1; eb_status = 1; eb_prop1 = 1; coordx = 0, 1, 2, 3, 4, 5, 6, 7; connect1 = 1; name_nod_var = "u";
    vals_nod_var1 = $2;
}
CDL
    ncgen -5 -o "$1.e" "$1.cdl" || exit 1
    expect 0 '' import "$1.e" "$1.tutti"
}
points a 'Infinity, Infinity,  -Infinity, NaN, NaN, 1, 1e308,  Infinity'
points b '5,        -Infinity, -Infinity, NaN, 1,   1, -1e308, Infinity'
points c '1,        1,         1,         1,   1,   1, 1,      1'
for kind in e tutti; do
    expect 0 '' diff a.$kind a.$kind
    expect 1 '4 of 8' diff a.$kind b.$kind -v u
    for limit in '--rel 0.5' '--abs 1e300' '--rel 0.5 --abs 1e300'; do
        # shellcheck disable=SC2086
        expect 1 '4 of 8' diff a.$kind b.$kind -v u $limit
        has 'by at most inf (relative inf)'
    done
    for limit in '--rel 2' '--rel inf' '--rel 2 --abs inf' '--tolerance u=inf/inf'; do
        # shellcheck disable=SC2086
        expect 1 '3 of 8' diff a.$kind b.$kind -v u $limit
        # shellcheck disable=SC2086
        expect 1 '3 of 8' diff b.$kind a.$kind -v u $limit
    done
    expect 1 '6 of 8' diff a.$kind c.$kind -v u --rel 2
    expect 0 '' diff c.$kind c.$kind --rel 2
    expect 1 '' diff a.$kind b.$kind -v u --rel 2 --json
    json '[v["absolute"] for v in o.get("numbers", o.get("variables")) if v["name"] == "u"] == [None]'
done
finish
