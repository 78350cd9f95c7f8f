/* TEST ranks=3 timeout=60 preload=mpiio */
/* Hints: ours and the peers' names are taken, nonsense is ignored, get_info tells what is in force.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mpi_check.h"

static void expect(MPI_Info info, const char *key, const char *expected) {
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int found = 0;
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found);
    CHECK(found && strcmp(value, expected) == 0, "%s is '%s', not '%s'", key, value, expected);
}

static MPI_Info in_force(const char *const (*hints)[2], int n) {
    MPI_Info info, used = MPI_INFO_NULL;
    MPI_File fh = MPI_FILE_NULL;
    MPI_Info_create(&info);
    for (int i = 0; i < n; i++) MPI_Info_set(info, hints[i][0], hints[i][1]);
    CHECK_MPI(MPI_File_open(MPI_COMM_WORLD, test_path("hints"), MPI_MODE_CREATE | MPI_MODE_RDWR,
                            info, &fh));
    CHECK_MPI(MPI_File_set_info(fh, info));
    MPI_Info_free(&info);
    CHECK_MPI(MPI_File_get_info(fh, &used));
    CHECK_MPI(MPI_File_close(&fh));
    return used;
}

static void taken(void) {
    static const char *const hints[][2] = {
        {"cb_buffer_size", "1048576"},   {"striping_unit", "65536"}, {"romio_cb_write", "enable"},
        {"romio_cb_read", "disable"},    {"tutti_sub_buffers", "3"}, {"tutti_queue_depth", "7"},
        {"ind_rd_buffer_size", "12345"}, {"cb_nodes", "2"}};
    MPI_Info used = in_force(hints, 8);
    expect(used, "cb_buffer_size", "1048576");
    expect(used, "striping_unit", "65536");
    expect(used, "romio_cb_write", "enable");
    expect(used, "romio_cb_read", "disable");
    expect(used, "tutti_method", "two-phase");
    expect(used, "tutti_sub_buffers", "3");
    expect(used, "tutti_queue_depth", "7");
    expect(used, "ind_rd_buffer_size", "12345");
    expect(used, "cb_nodes", size > 1 ? "2" : "1");
    MPI_Info_free(&used);
}

static void ignored(void) {
    static const char *const hints[][2] = {
        {"cb_buffer_size", "plenty"}, {"romio_cb_write", "perhaps"}, {"method", "root"},
        {"tutti_method", "magic"},    {"tutti_no_such_option", "1"}, {"access_style", "random"},
        {"cb_nodes", "-4"},           {"romio_no_indep_rw", "true"}, {"tutti_background", "all"}};
    char value[MPI_MAX_INFO_VAL + 1], ranks[16];
    int found = 0;
    MPI_Info used = in_force(hints, 9);
    expect(used, "cb_buffer_size", "16777216");
    expect(used, "romio_cb_write", "automatic");
    expect(used, "tutti_method", "auto");
    snprintf(ranks, sizeof ranks, "%d", size);
    expect(used, "cb_nodes", ranks);
    MPI_Info_get(used, "access_style", MPI_MAX_INFO_VAL, value, &found);
    CHECK(!found, "a hint that nobody follows is told");
    expect(used, "tutti_background", "auto"); /* no thread may do it all in this program */
    MPI_Info_free(&used);
}

static void standard_switch(void) {
    static const char *const hints[][2] = {{"collective_buffering", "false"}};
    MPI_Info used = in_force(hints, 1);
    expect(used, "tutti_method", "list");
    expect(used, "romio_cb_write", "disable");
    MPI_Info_free(&used);
}

int main(int argc, char **argv) {
    test_begin(&argc, &argv);
    taken();
    ignored();
    standard_switch();
    return test_end();
}
