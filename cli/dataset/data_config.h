/* Commands of datasets and Exodus files: one set of options.  `tutti ls`, show, verify, diff, cp,
 * export and archive accept either kind of file; the first operand decides.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_DATA_CONFIG_H
#define TUTTI_CLI_DATA_CONFIG_H

#include "common/command.h"

enum {
    DATASET_LS = 1 << 0,
    DATASET_SHOW = 1 << 1,
    DATASET_VERIFY = 1 << 2,
    DATASET_DUMP = 1 << 3,
    DATASET_DIFF = 1 << 4,
    DATASET_PLOT = 1 << 5,
    DATASET_CP = 1 << 6,
    DATASET_EXPORT = 1 << 7,
    DATASET_REPAIR = 1 << 8,
    DATASET_ARCHIVE = 1 << 9,
    DATASET_RESTORE = 1 << 10,
    EXODUS_INFO = 1 << 16,
    EXODUS_DIFF = 1 << 17,
    EXODUS_JOIN = 1 << 18,
    EXODUS_SPLIT = 1 << 19,
    EXODUS_VERIFY = 1 << 20,
    EXODUS_CP = 1 << 21,
    EXODUS_ARCHIVE = 1 << 22,
    EXODUS_IMPORT = 1 << 23,
    EXODUS_EXPORT = 1 << 24,
    EXODUS_LS = 1 << 25,
    EXODUS_ANY = 0x3ff << 16
};

enum { DUMP_TEXT, DUMP_CSV, DUMP_NPY };         /* values of --as */
enum { BY_POSITION, BY_ID };                    /* values of --by of diff */
enum { SPLIT_METIS, SPLIT_CURVE, SPLIT_ORDER }; /* values of --by of split */

typedef struct data_config {
    cli_call call;    /* call.bits: one or more of the above */
    const char *name; /* name of the command for warnings: "cp", "exodus cp" */
    char **path;      /* [paths] operands; the directory instead of a metadata file */
    int paths;
    cli_list variables; /* names given by -v; empty: all variables */
    const char *segment, *slice, *out, *steps;
    int as, json, all, range, quiet, force;
    double tolerance[2]; /* default tolerances: absolute, relative */
    cli_list tolerances; /* items "NAME=ABS" or "NAME=ABS/REL" */
    const char *type;    /* cp: text of --type: TYPE, or NAME=TYPE,... */
    int layout;          /* cp: tutti_layout; -1: unchanged */
    int container;       /* cp: tutti_container; -1: unchanged */
    int indices;         /* cp: time indices per file; -1: unchanged */
    int compress;        /* cp: compression level; -1: unchanged */
    int xdmf, csv, zarr, vtk, sets;
    const char *place, *tar, *shell; /* archive, restore: destination or source; one is set */
    const char *segments, *older;    /* archive, restore: selection of segments */
    int diff_by, split_by;
    int real, integers, steps_per_file, nemesis; /* cp: -1: unchanged */
    int parts;
} data_config;

enum { DATA_OPTIONS = 40 };
extern const cli_option data_options[DATA_OPTIONS];
void data_narrow(void *config);
int data_check(void *config);

/* Get the tolerances of a variable, absolute and relative. */
void data_tolerance(const data_config *c, const char *variable, double out[2]);
int data_wanted(const data_config *c, const char *variable); /* whether -v selects the variable */
/* Parse "A:B", "A:", ":B" or "A" within low ... high; a missing end is low or high.
 * @return 1 if text is not a range */
int data_range_parse(const char *text, tutti_count low, tutti_count high, tutti_count *first_out,
                     tutti_count *last_out);

extern const cli_group data_group, exodus_group; /* tables of commands (data_commands.c) */

#endif
