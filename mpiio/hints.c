/* mpiio: hints.  Taken are Tutti's own options as tutti_NAME and the names by which the standard, ROMIO and
 * OMPIO know the same things; everything else, and every value that makes no sense, is ignored, as the
 * standard asks.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "mpiio.h"

/* Hints of others -> our option. */
static const struct {
    const char *key, *option;
} synonyms[] = {
    {"cb_nodes", "cb_nodes"},
    {"cb_buffer_size", "cb_buffer_size"},
    {"cb_block_size", "cb_block_size"},
    {"striping_unit", "striping_unit"},
    {"stripe_size", "striping_unit"},
    {"romio_cb_fr_alignment", "striping_unit"},
    {"romio_cb_write", "romio_cb_write"},
    {"romio_cb_read", "romio_cb_read"},
    {"romio_ds_write", "romio_ds_write"},
    {"ind_rd_buffer_size", "ind_rd_buffer_size"},
    {"direct_write", "direct_io"},
    {"direct_read", "direct_io"},
};
enum { SYNONYMS = sizeof synonyms / sizeof *synonyms };

static const char *option_of(const char *key) {
    if (strncmp(key, "tutti_", 6) == 0) return key;
    for (int i = 0; i < SYNONYMS; i++)
        if (strcmp(key, synonyms[i].key) == 0) return synonyms[i].option;
    return NULL;
}

/* The value of a key that is there; free it. */
static char *value_of(MPI_Info info, const char *key) {
    int length = 0, found = 0;
    if (PMPI_Info_get_valuelen(info, key, &length, &found) != MPI_SUCCESS || !found) return NULL;
    char *value = calloc((size_t)length + 1, 1);
    if (value && PMPI_Info_get(info, key, length, value, &found) == MPI_SUCCESS) return value;
    free(value);
    return NULL;
}

/* The standard's switch: without it every rank goes its own way. */
static void collective_buffering(const char *value, tutti_options *opt) {
    if (strcasecmp(value, "false") != 0 && strcasecmp(value, "disable") != 0) return;
    opt->method = opt->method_read = TUTTI_METHOD_LIST;
}

static void hint_take(MPI_Info info, const char *key, tutti_options *opt) {
    const char *option = option_of(key);
    char *value = value_of(info, key);
    if (value && strcmp(key, "collective_buffering") == 0) collective_buffering(value, opt);
    if (value && option) {
        const tutti_err refused = tutti_options_set(opt, option, value);
        (void)refused; /* it has changed nothing then */
    }
    free(value);
}

/* A thread for everything needs a thread level that the program may not have: then the hint is ignored. */
static void hint_background(int before, tutti_options *opt) {
    int level = MPI_THREAD_SINGLE;
    PMPI_Query_thread(&level);
    if (opt->background == TUTTI_BACKGROUND_ALL && level < MPI_THREAD_MULTIPLE)
        opt->background = before;
}

int mpiio_hints_read(MPI_Info info, tutti_options *opt) {
    char key[MPI_MAX_INFO_KEY + 1];
    int n = 0;
    const tutti_err err = tutti_options_init(opt);
    if (err != TUTTI_OK) return mpiio_complain_tutti(err);
    const int background = opt->background;
    if (info == MPI_INFO_NULL || PMPI_Info_get_nkeys(info, &n) != MPI_SUCCESS) return MPI_SUCCESS;
    for (int i = 0; i < n; i++)
        if (PMPI_Info_get_nthkey(info, i, key) == MPI_SUCCESS) hint_take(info, key, opt);
    hint_background(background, opt);
    return MPI_SUCCESS;
}

/* ---- what is in force */

static int tell(MPI_Info info, const char *key, const char *value) {
    return value[0] ? PMPI_Info_set(info, key, value) : MPI_SUCCESS;
}

static int tell_option(MPI_Info info, const tutti_options *opt, const char *key, const char *name) {
    char value[160];
    if (tutti_options_get(opt, name, value, sizeof value) != TUTTI_OK) return MPI_SUCCESS;
    return tell(info, key, value);
}

/* An aggregator is what the peers call so: by default every rank is one. */
static int tell_nodes(MPI_Info info, const mpiio_file *f, const tutti_options *opt) {
    char value[32];
    const int n =
        opt->cb_nodes > 0 && opt->cb_nodes < f->ranks->size ? opt->cb_nodes : f->ranks->size;
    snprintf(value, sizeof value, "%d", n);
    return tell(info, "cb_nodes", value);
}

int mpiio_hints_tell(const mpiio_file *f, MPI_Info info) {
    static const char *const peers[] = {"cb_buffer_size", "striping_unit",  "romio_cb_write",
                                        "romio_cb_read",  "romio_ds_write", "ind_rd_buffer_size"};
    tutti_options opt;
    char key[80];
    if (tutti_file_options(f->file, &opt) != TUTTI_OK) return mpiio_complain(MPI_ERR_IO, "options");
    int code = tell_nodes(info, f, &opt);
    for (size_t i = 0; code == MPI_SUCCESS && i < sizeof peers / sizeof *peers; i++)
        code = tell_option(info, &opt, peers[i], peers[i]);
    for (int i = 0; code == MPI_SUCCESS && tutti_options_row(i); i++) {
        snprintf(key, sizeof key, "tutti_%s", tutti_options_row(i)->name);
        code = tell_option(info, &opt, key, tutti_options_row(i)->name);
    }
    return code;
}
