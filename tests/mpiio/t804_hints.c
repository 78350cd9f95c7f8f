/* TEST ranks=3 timeout=60 preload=mpiio own=1 */
/* Hints of Tutti and of ROMIO are accepted, invalid hints are ignored, and get_info returns the values in use.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mpi_check.h"

static void check_expected(MPI_Info info, const char *key, const char *expected) {
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

static void test_taken(void) {
    static const char *const hints[][2] = {
        {"cb_buffer_size", "1048576"},   {"striping_unit", "65536"}, {"romio_cb_write", "enable"},
        {"romio_cb_read", "disable"},    {"tutti_sub_buffers", "3"}, {"tutti_queue_depth", "7"},
        {"ind_rd_buffer_size", "12345"}, {"cb_nodes", "2"},          {"romio_ds_write", "disable"}};
    MPI_Info used = in_force(hints, 9);
    check_expected(used, "romio_ds_write", "disable");
    check_expected(used, "cb_buffer_size", "1048576");
    check_expected(used, "striping_unit", "65536");
    check_expected(used, "romio_cb_write", "enable");
    check_expected(used, "romio_cb_read", "disable");
    check_expected(used, "tutti_method", "two-phase");
    check_expected(used, "tutti_sub_buffers", "3");
    check_expected(used, "tutti_queue_depth", "7");
    check_expected(used, "ind_rd_buffer_size", "12345");
    check_expected(used, "cb_nodes", size > 1 ? "2" : "1");
    MPI_Info_free(&used);
}

static void test_ignored(void) {
    static const char *const hints[][2] = {
        {"cb_buffer_size", "plenty"}, {"romio_cb_write", "perhaps"}, {"method", "root"},
        {"tutti_method", "magic"},    {"tutti_no_such_option", "1"}, {"access_style", "random"},
        {"cb_nodes", "-4"},           {"romio_no_indep_rw", "true"}, {"tutti_background", "all"}};
    char value[MPI_MAX_INFO_VAL + 1], ranks[16];
    int found = 0;
    MPI_Info used = in_force(hints, 9);
    check_expected(used, "cb_buffer_size", "16777216");
    check_expected(used, "romio_cb_write", "automatic");
    check_expected(used, "tutti_method", "auto");
    snprintf(ranks, sizeof ranks, "%d", size);
    check_expected(used, "cb_nodes", ranks);
    MPI_Info_get(used, "access_style", MPI_MAX_INFO_VAL, value, &found);
#ifdef MPICH_VERSION /* unused hints are omitted, as in MPICH's own MPI-IO */
    CHECK(!found, "an unused hint is in the info object");
#else
    CHECK(found, "a hint that was given is not in the info object");
#endif
    MPI_Info_get(used, "striping_unit", MPI_MAX_INFO_VAL, value, &found);
    CHECK(!found,
          "the block size of the file system is reported as striping_unit: PnetCDF would use it");
    check_expected(used, "romio_ds_write", "automatic");
    /* the thread level of this program does not allow a thread */
    check_expected(used, "tutti_background", "auto");
    check_expected(used, "tutti_sub_buffers", "4"); /* set by the system hints */
    MPI_Info_free(&used);
}

static void standard_switch(void) {
    static const char *const hints[][2] = {{"collective_buffering", "false"}};
    MPI_Info used = in_force(hints, 1);
    check_expected(used, "tutti_method", "list");
    check_expected(used, "romio_cb_write", "disable");
    MPI_Info_free(&used);
}

static MPI_Info hint(const char *key, const char *value) {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    return info;
}

static void in_force_now(MPI_File fh, const char *key, const char *expected) {
    MPI_Info used;
    CHECK_MPI(MPI_File_get_info(fh, &used));
    check_expected(used, key, expected);
    MPI_Info_free(&used);
}

/* Write and read columns of 4 bytes on all ranks. */
static void write_and_read_columns(MPI_File fh, int seed, MPI_Info info) {
    enum { N = 500 };
    int out[N], in[N];
    MPI_Datatype type, tile;
    MPI_Type_create_resized(MPI_INT, 0, 4 * size, &type);
    MPI_Type_contiguous(1, type, &tile);
    MPI_Type_commit(&tile);
    CHECK_MPI(MPI_File_set_view(fh, 4 * rank, MPI_INT, tile, "native", info));
    for (int i = 0; i < N; i++) out[i] = seed * 1000 + rank + i;
    CHECK_MPI(MPI_File_write_at_all(fh, 0, out, N, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_MPI(MPI_File_read_at_all(fh, 0, in, N, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(memcmp(in, out, sizeof in) == 0, "seed %d: other bytes come back", seed);
    MPI_Type_free(&type);
    MPI_Type_free(&tile);
}

/* Test hints that are set after open: the hints of rank 0 are used on all ranks; hints are ignored
 * while operations are pending. */
static void test_later(void) {
    int first = 0;
    MPI_File fh = test_open("later", MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Info write = hint("romio_cb_write", "disable"),
             buffer_hint = hint("cb_buffer_size", "131072"), read = hint("romio_cb_read", "enable");
    write_and_read_columns(fh, 1, MPI_INFO_NULL);
    CHECK_MPI(MPI_File_set_info(fh, rank == 0 ? write : MPI_INFO_NULL));
    in_force_now(fh, "romio_cb_write", "disable");
    write_and_read_columns(fh, 2, buffer_hint);
    in_force_now(fh, "cb_buffer_size", "131072");
    in_force_now(fh, "romio_cb_write", "disable");
    CHECK_MPI(MPI_File_read_at_all_begin(fh, 0, &first, 1, MPI_INT));
    CHECK_MPI(MPI_File_set_info(fh, read));
    in_force_now(fh, "romio_cb_read", "automatic");
    CHECK_MPI(MPI_File_read_at_all_end(fh, &first, MPI_STATUS_IGNORE));
    write_and_read_columns(fh, 3, read);
    in_force_now(fh, "romio_cb_read", "enable");
    CHECK_MPI(MPI_File_close(&fh));
    MPI_Info_free(&write);
    MPI_Info_free(&buffer_hint);
    MPI_Info_free(&read);
}

/* Write a file of system hints in ROMIO's format; it must exist before the first file is opened. */
static void write_system_hints(void) {
    FILE *out = rank == 0 ? fopen(test_path("romio-hints"), "w") : NULL;
    if (out) fputs("# for all\ncb_nodes\n  romio_ds_read disable\n", out);
    if (out) /* the value is longer than MPI allows: the whole line is ignored */
        fputs("too_long ", out);
    for (int i = 0; out && i < 3000; i++) fputc('x', out);
    if (out) fputs(" \ntutti_sub_buffers 4\n", out);
    if (out) fclose(out);
    setenv("ROMIO_HINTS", test_path("romio-hints"), 1);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Check the hints that ROMIO returns for every file. */
static void check_romio_hints(void) {
#ifdef MPICH_VERSION
    static const char *const told[][2] = {
        {"ind_rd_buffer_size", "4194304"}, {"ind_wr_buffer_size", "524288"},
        {"romio_ds_write", "automatic"},   {"romio_no_indep_rw", "false"},
        {"cb_config_list", "*:1"},         {"romio_cb_pfr", "disable"},
        {"romio_cb_fr_alignment", "1"},    {"romio_cb_ds_threshold", "0"},
        {"romio_cb_alltoall", "automatic"}};
    MPI_Info used = in_force(NULL, 0);
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        check_expected(used, told[i][0], told[i][1]);
    check_expected(used, "romio_ds_read", "disable"); /* set by the system hints */
    MPI_Info_free(&used);
#endif
}

int main(int argc, char **argv) {
    test_begin(&argc, &argv);
    write_system_hints();
    test_taken();
    test_ignored();
    standard_switch();
    test_later();
    check_romio_hints();
    return test_end();
}
