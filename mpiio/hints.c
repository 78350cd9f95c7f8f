/* mpiio: hints.  Supported hints are the options of Tutti as tutti_NAME, and the names of
 * equivalent settings in the standard, ROMIO and OMPIO; other names, and invalid values, are
 * ignored, as the standard requires.
 *
 *   at open             options of the environment, then hints of $ROMIO_HINTS, then of the program
 *   set_info, set_view  options that can still change are changed, by agreement of all ranks;
 *                       libraries pass the same hints repeatedly, which must be fast
 *   get_info            the values in use, and hints of the MPI library with the values that it
 *                       would return
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "request.h"

/* Options of Tutti that correspond to hints of other implementations. */
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

/* Return the value of a key, to be freed by the caller; NULL if the key is not set. */
static char *value_of(MPI_Info info, const char *key) {
    int length = 0, found = 0;
    if (PMPI_Info_get_valuelen(info, key, &length, &found) != MPI_SUCCESS || !found) return NULL;
    char *value = calloc((size_t)length + 1, 1);
    if (value && PMPI_Info_get(info, key, length, value, &found) == MPI_SUCCESS) return value;
    free(value);
    return NULL;
}

/* Apply one hint: an option of Tutti, a synonym of an option, or collective_buffering. */
static void apply_hint(MPI_Info info, const char *key, tutti_options *opt) {
    const char *option = strncmp(key, "tutti_", 6) == 0 ? key : NULL;
    for (int i = 0; i < SYNONYMS && !option; i++)
        if (strcmp(key, synonyms[i].key) == 0) option = synonyms[i].option;
    char *value = value_of(info, key);
    if (value && strcmp(key, "collective_buffering") == 0 &&
        (strcasecmp(value, "false") == 0 || strcasecmp(value, "disable") == 0))
        opt->method = opt->method_read = TUTTI_METHOD_LIST;
    if (value && option) {
        const tutti_err refused = tutti_options_set(opt, option, value);
        (void)refused; /* after an error the option is unchanged */
    }
    free(value);
}

static void hints_take(MPI_Info info, tutti_options *opt) {
    char key[MPI_MAX_INFO_KEY + 1];
    int n = 0, level = MPI_THREAD_SINGLE;
    const int background = opt->background;
    if (info == MPI_INFO_NULL || PMPI_Info_get_nkeys(info, &n) != MPI_SUCCESS) return;
    for (int i = 0; i < n; i++)
        if (PMPI_Info_get_nthkey(info, i, key) == MPI_SUCCESS) apply_hint(info, key, opt);
    PMPI_Query_thread(&level); /* background=all is ignored without MPI_THREAD_MULTIPLE */
    if (opt->background == TUTTI_BACKGROUND_ALL && level < MPI_THREAD_MULTIPLE)
        opt->background = background;
}

/* ---- hints of the system: lines "key value" in a file, read once */

static MPI_Info of_system = MPI_INFO_NULL;
static pthread_once_t system_once = PTHREAD_ONCE_INIT;
static int system_too_long;

/* Values that are longer than MPI allows are ignored, like every invalid hint. */
static void system_read(void) {
    char *line = NULL, *rest;
    size_t capacity = 0;
    const char *path = secure_getenv("ROMIO_HINTS");
    FILE *in = fopen(path ? path : "/etc/romio-hints", "re");
    if (!in) return;
    if (PMPI_Info_create(&of_system) != MPI_SUCCESS) of_system = MPI_INFO_NULL;
    while (of_system != MPI_INFO_NULL && getline(&line, &capacity, in) >= 0) {
        const char *key = strtok_r(line, " \t\r\n", &rest);
        const char *value = key && key[0] != '#' ? strtok_r(NULL, " \t\r\n", &rest) : NULL;
        if (!value) continue;
        if (strlen(key) < MPI_MAX_INFO_KEY && strlen(value) < MPI_MAX_INFO_VAL)
            PMPI_Info_set(of_system, key, value);
        else
            system_too_long = 1;
    }
    free(line);
    fclose(in);
}

static MPI_Info system_hints(void) {
    pthread_once(&system_once, system_read);
    return of_system;
}

int mpiio_hints_too_long(void) {
    (void)system_hints();
    return system_too_long;
}

void mpiio_hints_end(void) {
    if (of_system != MPI_INFO_NULL) PMPI_Info_free(&of_system);
}

/* ---- hints at open */

int mpiio_hints_read(MPI_Info info, tutti_options *opt) {
    const tutti_err err = tutti_options_init(opt);
    if (err != TUTTI_OK) return mpiio_complain_tutti(err);
    hints_take(system_hints(), opt);
    hints_take(info, opt);
    return MPI_SUCCESS;
}

/* ---- later hints */

int mpiio_hints_apply(const mpiio_file *f, MPI_Info info, tutti_options *opt) {
    tutti_options now;
    if (tutti_file_options(f->file, &now) != TUTTI_OK) return 0;
    *opt = now;
    hints_take(info, opt);
#define DIFFERS(name) || now.name != opt->name
    return 0 TUTTI_FILE_CHANGES(DIFFERS);
#undef DIFFERS
}

/* Hints are ignored while operations are pending, as the standard allows. */
void mpiio_hints_change(mpiio_file *f, const tutti_options *opt) {
    mpiio_enter(f);
    const tutti_err refused = tutti_file_change(f->file, opt);
    mpiio_leave(f);
    tutti_options now;
    if (refused == TUTTI_OK && tutti_file_options(f->file, &now) == TUTTI_OK)
        f->explain = now.explain;
}

/* ---- hints without effect, which the MPI-IO of the MPI library would report */

#ifdef MPICH_VERSION

enum { SWITCH, NUMBER, TEXT };
static const struct {
    const char *key, *value;
    int kind, later; /* `later`: the hint may be set after open */
} peers[] = {
    {"romio_ds_read", "automatic", SWITCH, 1},
    {"romio_ds_write", "automatic", SWITCH, 1},
    {"ind_wr_buffer_size", "524288", NUMBER, 1},
    {"romio_no_indep_rw", "false", TEXT, 0},
    {"cb_config_list", "*:1", TEXT, 0},
    {"romio_cb_pfr", "disable", SWITCH, 0},
    {"romio_cb_fr_types", "aar", TEXT, 0},
    {"romio_cb_fr_alignment", "1", NUMBER, 0},
    {"romio_cb_ds_threshold", "0", NUMBER, 0},
    {"romio_cb_alltoall", "automatic", SWITCH, 0},
    {"romio_synchronized_flush", "disabled", TEXT, 0},
    {"romio_filesystem_type", "UFS: Tutti", TEXT, 0},
    {"striping_unit", "", NUMBER, 0},
};

static int value_fits(int kind, const char *value) {
    if (kind == NUMBER) return value[0] && value[strspn(value, "0123456789")] == '\0';
    if (kind == TEXT) return value[0] != '\0';
    return strcmp(value, "enable") == 0 || strcmp(value, "disable") == 0 ||
           strcmp(value, "automatic") == 0;
}

/* Store hints that ROMIO supports and therefore reports. */
static void peer_keep(mpiio_file *f, MPI_Info info, int later) {
    for (size_t i = 0; i < sizeof peers / sizeof *peers; i++) {
        char *value = later && !peers[i].later ? NULL : value_of(info, peers[i].key);
        if (value && value_fits(peers[i].kind, value)) PMPI_Info_set(f->hints, peers[i].key, value);
        free(value);
    }
}

static void peer_defaults(mpiio_file *f) {
    for (size_t i = 0; i < sizeof peers / sizeof *peers; i++)
        if (peers[i].value[0]) PMPI_Info_set(f->hints, peers[i].key, peers[i].value);
}

#else

/* Store all hints, since OMPIO reports all keys that were passed. */
static void peer_keep(mpiio_file *f, MPI_Info info, int later) {
    char key[MPI_MAX_INFO_KEY + 1];
    int n = 0;
    (void)later;
    if (PMPI_Info_get_nkeys(info, &n) != MPI_SUCCESS) return;
    for (int i = 0; i < n; i++) {
        char *value =
            PMPI_Info_get_nthkey(info, i, key) == MPI_SUCCESS ? value_of(info, key) : NULL;
        if (value) PMPI_Info_set(f->hints, key, value);
        free(value);
    }
}

static void peer_defaults(mpiio_file *f) {
    PMPI_Info_set(f->hints, "romio_ds_write", "automatic");
}

#endif

int mpiio_hints_open(mpiio_file *f, MPI_Info info) {
    const int code = PMPI_Info_create(&f->hints);
    if (code != MPI_SUCCESS) return code;
    peer_defaults(f);
    if (system_hints() != MPI_INFO_NULL) peer_keep(f, system_hints(), 0);
    if (info != MPI_INFO_NULL) peer_keep(f, info, 0);
    return MPI_SUCCESS;
}

void mpiio_hints_keep(mpiio_file *f, MPI_Info info) {
    if (info != MPI_INFO_NULL) peer_keep(f, info, 1);
}

/* ---- values in use */

static int set_info(MPI_Info info, const char *key, const char *value) {
    return value[0] ? PMPI_Info_set(info, key, value) : MPI_SUCCESS;
}

static int set_option_info(MPI_Info info, const tutti_options *opt, const char *key,
                           const char *name) {
    char value[160];
    if (tutti_options_get(opt, name, value, sizeof value) != TUTTI_OK) return MPI_SUCCESS;
    return set_info(info, key, value);
}

/* Report options by the hint names of the MPI libraries.  cb_nodes is the number of aggregators, by
 * default all ranks.  The striping unit of a striped file is reported even if no hint set it, like
 * in the MPI libraries, since I/O libraries align their data to this value. */
static int set_peer_info(MPI_Info info, const mpiio_file *f, const tutti_options *opt) {
    enum { STRIPED = 64 << 10 };
    static const char *const same[] = {"cb_buffer_size", "romio_cb_write", "romio_cb_read",
                                       "ind_rd_buffer_size"};
    char nodes[32], *unit = value_of(f->hints, "striping_unit");
    const int size = f->ranks->size;
    snprintf(nodes, sizeof nodes, "%d",
             opt->cb_nodes > 0 && opt->cb_nodes < size ? opt->cb_nodes : size);
    int code = set_info(info, "cb_nodes", nodes);
    for (size_t i = 0; code == MPI_SUCCESS && i < sizeof same / sizeof *same; i++)
        code = set_option_info(info, opt, same[i], same[i]);
    if (code == MPI_SUCCESS && opt->rmw) code = set_info(info, "romio_ds_write", "enable");
    if (code == MPI_SUCCESS && (unit || opt->striping_unit >= STRIPED))
        code = set_option_info(info, opt, "striping_unit", "striping_unit");
    free(unit);
    return code;
}

int mpiio_hints_get(const mpiio_file *f, MPI_Info *out) {
    tutti_options opt;
    char key[80];
    MPI_Info info;
    if (tutti_file_options(f->file, &opt) != TUTTI_OK)
        return mpiio_complain(MPI_ERR_IO, "cannot query the options of the file");
    int code = PMPI_Info_dup(f->hints, &info);
    if (code != MPI_SUCCESS) return code;
    code = set_peer_info(info, f, &opt);
    for (int i = 0; code == MPI_SUCCESS && tutti_options_row(i); i++) {
        snprintf(key, sizeof key, "tutti_%s", tutti_options_row(i)->name);
        code = set_option_info(info, &opt, key, tutti_options_row(i)->name);
    }
    if (code == MPI_SUCCESS)
        *out = info;
    else
        PMPI_Info_free(&info);
    return code;
}
