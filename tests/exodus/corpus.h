/* Exodus files as written by other programs: libMesh, MOOSE, Cubit, IOSS, nccopy -u.
 *
 * corpus_write(DIR) writes every file of corpus_files below; the headers are encoded by src/cdf,
 * so that no other library is needed and every build writes the same bytes.  libexodusii can read
 * all files (t1322_libexodus.sh) except those marked `refused`.  Values are functions of their
 * position: corpus_coordinate, corpus_id, corpus_result, ...
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_EXODUS_CORPUS_H
#define TUTTI_TESTS_EXODUS_CORPUS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/exodus.h>
#include "cdf/cdf.h"

enum { CORPUS_BLOCKS = 4, CORPUS_SETS = 40, CORPUS_STEPS = 4 };

/* A block: elements in the order of the grid's cells. */
typedef struct {
    const char *topology; /* NULL: end of the list of blocks */
    int64_t id;
    const char *name;
    int per;       /* number of nodes per element */
    tutti_count n; /* number of elements */
    int attributes;
} corpus_block;

/* A side set (of the first block) or a node set. */
typedef struct {
    int64_t id;
    const char *name;
    tutti_count n;
    /* number of distribution factors in the file; -1: the number required by the format */
    tutti_count factors;
    int repeats; /* 1: every second member repeats the previous member */
} corpus_set;

typedef struct {
    const char *file;           /* file name in DIR */
    const char *refused;        /* part of the error message of open; NULL: open succeeds */
    int version, real, integer; /* version of the netCDF format; bytes per real and per integer */
    int dims;
    tutti_count cells[3]; /* number of cells of the grid per dimension */
    int name_length;      /* value of the dimension len_name, minus 1; 0: the file has no names */
    int has_maps;         /* whether there are id maps: the id of position i is corpus_id(i) */
    int has_records;      /* whether there are QA and info records */
    int fixed_time; /* 1: time_step is not the record dimension; 2: also one array for all coordinates, and one for all
                     * nodal variables */
    int steps;
    double times[CORPUS_STEPS];
    int globals, nodals, elementals;
    int sparse;               /* whether the truth table has zeros */
    int node_sets, side_sets; /* number of generated sets, in addition to `nodes` and `sides` */
    corpus_block blocks[CORPUS_BLOCKS];
    corpus_set nodes[3], sides[3];
    int unfit; /* whether a side set has a wrong number of factors, so that get_mesh warns */
} corpus_file;

/* Names of 60 and 255 bytes. */
#define CORPUS_LONG "a_name_that_is_longer_than_the_thirty_two_bytes_of_libexodus"
#define CORPUS_LONGEST CORPUS_LONG CORPUS_LONG CORPUS_LONG CORPUS_LONG "fifteen_letters"

static const corpus_file corpus_files[] = {
    {.file = "libmesh.e",
     .version = 2,
     .real = 8,
     .integer = 4,
     .dims = 3,
     .cells = {2, 2, 2},
     .name_length = 32,
     .has_maps = 1,
     .steps = 2,
     .times = {0.5, 1},
     .globals = 1,
     .nodals = 2,
     .elementals = 1,
     .blocks = {{"HEX8", 0, "", 8, 6, 0}, {"HEX8", 7, "coil", 8, 2, 0}},
     .nodes = {{0, "left", 3, 0, 0}, {1, "", 2, 0, 0}},
     .sides = {{0, "bottom", 3, 0, 0}, {1, "top", 2, 0, 0}}},
    {.file = "libmesh.e-s002",
     .version = 2,
     .real = 8,
     .integer = 4,
     .dims = 3,
     .cells = {3, 2, 2},
     .name_length = 32,
     .has_maps = 1,
     .steps = 1,
     .times = {1.5},
     .globals = 1,
     .nodals = 2,
     .elementals = 1,
     .blocks = {{"HEX8", 0, "", 8, 8, 0}, {"HEX8", 7, "coil", 8, 4, 0}},
     .nodes = {{0, "left", 3, 0, 0}, {1, "", 2, 0, 0}},
     .sides = {{0, "bottom", 3, 0, 0}, {1, "top", 2, 0, 0}}},
    {.file = "libmesh.e-s003",
     .version = 2,
     .real = 8,
     .integer = 4,
     .dims = 3,
     .cells = {3, 2, 2},
     .name_length = 32,
     .has_maps = 1,
     .steps = 2,
     .times = {2, 3},
     .globals = 1,
     .nodals = 2,
     .elementals = 1,
     .blocks = {{"HEX8", 0, "", 8, 8, 0}, {"HEX8", 7, "coil", 8, 4, 0}},
     .nodes = {{0, "left", 3, 0, 0}, {1, "", 2, 0, 0}},
     .sides = {{0, "bottom", 3, 0, 0}, {1, "top", 2, 0, 0}}},
    {.file = "moose.e",
     .version = 2,
     .real = 8,
     .integer = 4,
     .dims = 2,
     .cells = {4, 2, 0},
     .name_length = 32,
     .has_maps = 1,
     .has_records = 1,
     .steps = 3,
     .times = {0, 0.1, 0.2},
     .globals = 3,
     .nodals = 1,
     .elementals = 2,
     .sparse = 1,
     .blocks = {{"QUAD4", 0, "", 4, 5, 0}, {"QUAD4", 1, "fuel", 4, 3, 0}},
     .nodes = {{0, "bottom", 5, -1, 0}, {3, "left", 3, -1, 0}},
     .sides = {{0, "bottom", 4, -1, 0}, {1, "right", 2, -1, 0}, {2, "top", 0, 0, 0}}},
    {.file = "cubit.e",
     .version = 1,
     .real = 8,
     .integer = 4,
     .dims = 3,
     .cells = {3, 2, 1},
     .name_length = 64,
     .has_records = 1,
     .node_sets = 30,
     .side_sets = 20,
     .blocks = {{"HEX8", 100, CORPUS_LONG, 8, 4, 3}, {"HEX", 200, "", 8, 2, 0}},
     .nodes = {{1000, CORPUS_LONG "_1", 4, -1, 0}},
     .sides = {{2000, CORPUS_LONG "_2", 3, -1, 0}}},
    {.file = "ioss.e",
     .version = 5,
     .real = 8,
     .integer = 8,
     .dims = 3,
     .cells = {2, 2, 1},
     .name_length = 64,
     .has_maps = 1,
     .has_records = 1,
     .steps = 2,
     .times = {1, 2},
     .globals = 2,
     .nodals = 2,
     .elementals = 2,
     .blocks = {{"hex8", 2000000000, "block_2000000000", 8, 4, 2}},
     .nodes = {{5, "nodelist_5", 4, -1, 0}},
     .sides = {{6, "surface_6", 2, -1, 0}}},
    {.file = "ioss.e-s0002",
     .version = 5,
     .real = 8,
     .integer = 8,
     .dims = 3,
     .cells = {2, 2, 1},
     .name_length = 64,
     .has_maps = 1,
     .has_records = 1,
     .steps = 1,
     .times = {3},
     .globals = 2,
     .nodals = 2,
     .elementals = 2,
     .blocks = {{"hex8", 2000000000, "block_2000000000", 8, 4, 2}},
     .nodes = {{5, "nodelist_5", 4, -1, 0}},
     .sides = {{6, "surface_6", 2, -1, 0}}},
    {.file = "fixed_time.e",
     .version = 2,
     .real = 8,
     .integer = 4,
     .dims = 3,
     .cells = {2, 2, 1},
     .name_length = 32,
     .has_maps = 1,
     .fixed_time = 1,
     .steps = 4,
     .times = {0, 1, 2, 3},
     .globals = 2,
     .nodals = 2,
     .elementals = 1,
     .blocks = {{"HEX8", 1, "", 8, 3, 0}, {"HEX8", 2, "", 8, 1, 0}},
     .nodes = {{1, "", 4, 0, 0}}},
    {.file = "fixed_time_old.e",
     .version = 1,
     .real = 4,
     .integer = 4,
     .dims = 2,
     .cells = {3, 1, 0},
     .fixed_time = 2,
     .steps = 3,
     .times = {0, 1, 2},
     .globals = 1,
     .nodals = 3,
     .elementals = 1,
     .blocks = {{"QUAD", 3, NULL, 4, 3, 0}}},
    {.file = "one_fixed_time.e",
     .version = 5,
     .real = 8,
     .integer = 4,
     .dims = 2,
     .cells = {3, 1, 0},
     .name_length = 32,
     .fixed_time = 1,
     .steps = 1,
     .times = {7},
     .nodals = 1,
     .blocks = {{"QUAD", 3, "", 4, 3, 0}}},
    {.file = "repeated.e",
     .version = 2,
     .real = 8,
     .integer = 4,
     .dims = 3,
     .cells = {3, 1, 1},
     .name_length = 32,
     .steps = 4,
     .times = {0, 1, 1, 0.5},
     .nodals = 1,
     .elementals = 1,
     .blocks = {{"HEX8", 1, "", 8, 3, 0}},
     .nodes = {{1, "", 6, -1, 1}, {2, "", 5, 0, 1}},
     .sides = {{1, "", 4, -1, 1}, {2, "", 5, 0, 1}}},
    {.file = "factors.e",
     .version = 2,
     .real = 8,
     .integer = 4,
     .dims = 3,
     .cells = {3, 1, 1},
     .name_length = 32,
     .steps = 1,
     .times = {0},
     .nodals = 1,
     .unfit = 1,
     .blocks = {{"HEX8", 1, "", 8, 3, 0}},
     .nodes = {{1, "", 4, -1, 0}},
     .sides = {{1, "", 3, -1, 0}, {2, "", 3, 3, 0}, {3, "", 2, 1, 0}}},
    {.file = "long_names.e",
     .version = 2,
     .real = 8,
     .integer = 4,
     .dims = 2,
     .cells = {2, 1, 0},
     .name_length = 255,
     .steps = 1,
     .times = {0},
     .nodals = 1,
     .elementals = 1,
     .blocks = {{"QUAD4", 1, CORPUS_LONGEST, 4, 2, 1}},
     .sides = {{1, CORPUS_LONGEST, 1, 0, 0}}},
    {.file = "nodes_only.e",
     .version = 2,
     .real = 8,
     .integer = 4,
     .dims = 3,
     .cells = {1, 1, 1},
     .name_length = 32,
     .steps = 2,
     .times = {0, 1},
     .nodals = 1},
    {.file = "same_blocks.e",
     .refused = "element block",
     .version = 2,
     .real = 8,
     .integer = 4,
     .dims = 3,
     .cells = {2, 1, 1},
     .steps = 1,
     .times = {0},
     .nodals = 1,
     .elementals = 1,
     .blocks = {{"HEX8", 5, NULL, 8, 1, 0}, {"HEX8", 5, NULL, 8, 1, 0}}},
    {.file = "same_sets.e",
     .refused = "node set",
     .version = 2,
     .real = 8,
     .integer = 4,
     .dims = 3,
     .cells = {2, 1, 1},
     .blocks = {{"HEX8", 5, NULL, 8, 2, 0}},
     .nodes = {{0, NULL, 2, 0, 0}, {0, NULL, 3, 0, 0}}},
};
enum { CORPUS_FILES = (int)(sizeof corpus_files / sizeof *corpus_files) };

/* ---- contents of the files */

static inline tutti_count corpus_nodes(const corpus_file *f) {
    return (f->cells[0] + 1) * (f->cells[1] + 1) * (f->dims == 3 ? f->cells[2] + 1 : 1);
}
static inline tutti_count corpus_elements(const corpus_file *f) {
    tutti_count n = 0;
    for (int b = 0; b < CORPUS_BLOCKS; b++) n += f->blocks[b].n;
    return n;
}
static inline int corpus_block_count(const corpus_file *f) {
    int n = 0;
    while (n < CORPUS_BLOCKS && f->blocks[n].topology) n++;
    return n;
}
/* Return the number of side sets (is_side) or node sets: those of the table, followed by generated sets. */
static inline int corpus_set_count(const corpus_file *f, int is_side) {
    const corpus_set *v = is_side ? f->sides : f->nodes;
    int n = 0;
    while (n < 3 && (v[n].n > 0 || v[n].id > 0)) n++;
    return n + (is_side ? f->side_sets : f->node_sets);
}
static inline corpus_set corpus_set_at(const corpus_file *f, int is_side, int k) {
    const int listed = corpus_set_count(f, is_side) - (is_side ? f->side_sets : f->node_sets);
    if (k < listed) return (is_side ? f->sides : f->nodes)[k];
    return (corpus_set){.id = k, .name = "", .n = (k + is_side) % 3, .factors = -1};
}
static inline double corpus_coordinate(const corpus_file *f, int c, tutti_count node) {
    const tutti_count nx = f->cells[0] + 1, ny = f->cells[1] + 1;
    return (double)(c == 0 ? node % nx : c == 1 ? node / nx % ny : node / nx / ny) * (c + 1) / 2;
}
static inline int64_t corpus_id(const corpus_file *f, tutti_count position) {
    return f->has_maps ? 3 * position + 5 : position + 1;
}
/* Return node `q` (from 1) of an element; elements are the cells of the grid, x varies fastest. */
static inline int64_t corpus_connectivity(const corpus_file *f, tutti_count element, int q) {
    static const int AT[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                 {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
    const tutti_count nx = f->cells[0], ny = f->cells[1];
    const tutti_count x = element % nx, y = element / nx % ny, z = element / nx / ny;
    return (x + AT[q][0]) + (nx + 1) * ((y + AT[q][1]) + (ny + 1) * (z + AT[q][2])) + 1;
}
/* Return member `i` of a set, and (corpus_side) its side; both count from 1. */
static inline int64_t corpus_member(const corpus_file *f, int is_side, int set, tutti_count i) {
    const tutti_count all = is_side ? corpus_elements(f) : corpus_nodes(f);
    const tutti_count k = corpus_set_at(f, is_side, set).repeats ? i / 2 : i;
    return (k + set) % all + 1;
}
static inline int64_t corpus_side(const corpus_file *f, int set, tutti_count i) {
    const tutti_count k = corpus_set_at(f, 1, set).repeats ? i / 2 : i;
    return (k + set) % (f->dims == 3 ? 6 : 4) + 1;
}
static inline tutti_count corpus_factors(const corpus_file *f, int is_side, int set) {
    const corpus_set s = corpus_set_at(f, is_side, set);
    return s.factors >= 0 ? s.factors : s.n * (is_side ? f->dims == 3 ? 4 : 2 : 1);
}
static inline double corpus_factor(int set, tutti_count i) {
    return set + (double)i / 4;
}
static inline double corpus_attribute(int block, tutti_count i) {
    return 100 * (block + 1) + (double)i / 2;
}
/* Return the value of variable `v` in step `s` (from 1) at entry `i`; block -1: nodal, -2: global. */
static inline double corpus_result(int s, int block, int v, tutti_count i) {
    return 1000 * s + 100 * (block + 3) + 10 * v + (double)i / 8;
}
static inline int corpus_has(const corpus_file *f, int block, int v) {
    return !f->sparse || (block + v) % 2 == 0;
}
static inline const char *corpus_variable(const corpus_file *f, int block, int v) {
    static char name[300];
    snprintf(name, sizeof name, "%s_%d",
             block == -2   ? "total"
             : block == -1 ? "disp"
                           : "stress",
             v);
    if (f->name_length == 255) {
        memset(name + strlen(name), 'v', 255);
        name[255] = 0;
    }
    return name;
}

/* ---- a netCDF file under construction: definitions, and the bytes of its variables */

typedef struct {
    const corpus_file *f;
    tutti__cdf c;
    int n;
    struct {
        tutti_count var;
        unsigned char *bytes;
    } data[600];
} corpus_book;

static inline void corpus_must(tutti_err err, const char *what) {
    if (err == TUTTI_OK) return;
    fprintf(stderr, "corpus: %s: %s\n", what, tutti_last_message());
    exit(1);
}

static inline void corpus_dim(corpus_book *b, const char *name, tutti_count n) {
    tutti_count d = 0;
    if (n > 0) corpus_must(tutti__cdf_add_dim(&b->c, name, n, &d), name);
}

/* Add a variable; `dims`: names of dimensions, separated by blanks.  Returns its number of values in all records. */
static inline tutti_count corpus_var(corpus_book *b, const char *name, int type, const char *dims) {
    tutti_count at[4], v = 0, n = 1;
    char text[200], *rest = text;
    int k = 0;
    snprintf(text, sizeof text, "%s", dims);
    for (const char *word; (word = strsep(&rest, " "));) {
        at[k] = tutti__cdf_find_dim(&b->c, word);
        if (at[k] < 0) {
            fprintf(stderr, "corpus: %s: no dimension %s\n", name, word);
            exit(1);
        }
        n *= at[k] == b->c.record_dim ? b->f->steps : b->c.dims[at[k]].length;
        k++;
    }
    corpus_must(tutti__cdf_add_var(&b->c, name, type, k, at, &v), name);
    b->data[b->n].var = v;
    b->data[b->n++].bytes = calloc((size_t)n + 1, (size_t)tutti__cdf_size(type));
    return n;
}

static inline void corpus_set_word(unsigned char *to, uint64_t word, int bytes) {
    for (int i = bytes - 1; i >= 0; i--, word >>= 8) to[i] = (unsigned char)word;
}

/* Set value `i` of the variable that was added last. */
static inline void corpus_int(corpus_book *b, tutti_count i, int64_t value) {
    const int bytes = (int)tutti__cdf_size(b->c.vars[b->data[b->n - 1].var].type);
    corpus_set_word(b->data[b->n - 1].bytes + i * bytes, (uint64_t)value, bytes);
}
static inline void corpus_real(corpus_book *b, tutti_count i, double value) {
    uint64_t word = 0;
    const float single = (float)value;
    if (b->f->real == 8)
        memcpy(&word, &value, 8);
    else {
        uint32_t half;
        memcpy(&half, &single, 4);
        word = half;
    }
    corpus_set_word(b->data[b->n - 1].bytes + i * b->f->real, word, b->f->real);
}
static inline void corpus_text(corpus_book *b, tutti_count i, int width, const char *text) {
    if (text) memcpy(b->data[b->n - 1].bytes + i * width, text, strlen(text));
}

static inline void corpus_save(corpus_book *b, const char *path) {
    void *header = NULL;
    FILE *out = fopen(path, "wb");
    b->c.records = b->c.record_dim >= 0 ? b->f->steps : 0;
    corpus_must(tutti__cdf_layout(&b->c, NULL), path);
    corpus_must(tutti__cdf_encode(&b->c, &header), path);
    int bad =
        !out || fwrite(header, 1, (size_t)b->c.header_bytes, out) != (size_t)b->c.header_bytes;
    for (int i = 0; i < b->n; i++) {
        const tutti__cdf_var *v = &b->c.vars[b->data[i].var];
        const size_t bytes = (size_t)(v->numbers * tutti__cdf_size(v->type));
        for (int s = 0; s < (v->is_record ? b->f->steps : 1) && !bad; s++)
            bad = fseek(out, tutti__cdf_place(&b->c, v, s), SEEK_SET) != 0 ||
                  fwrite(b->data[i].bytes + (size_t)s * bytes, 1, bytes, out) != bytes;
        free(b->data[i].bytes);
    }
    if (!bad) { /* write the padding of the last record */
        const long end = (long)(b->f->steps > 0 && b->c.record_dim >= 0
                                    ? b->c.record_begin + b->f->steps * b->c.record_bytes
                                    : b->c.fixed_end);
        fseek(out, 0, SEEK_END);
        for (long at = ftell(out); at < end; at++) fputc(0, out);
    }
    if (bad || fclose(out) != 0) {
        fprintf(stderr, "corpus: cannot write %s\n", path);
        exit(1);
    }
    tutti__free(header);
    tutti__cdf_free(&b->c);
}

/* ---- an Exodus file */

static inline char *corpus_numbered(const char *name, int i) {
    static char text[8][64];
    static int next;
    next = (next + 1) % 8;
    snprintf(text[next], sizeof text[next], name, i);
    return text[next];
}

static inline int corpus_real_type(const corpus_file *f) {
    return f->real == 8 ? TUTTI__CDF_DOUBLE : TUTTI__CDF_FLOAT;
}
static inline int corpus_int_type(const corpus_file *f) {
    return f->integer == 8 ? TUTTI__CDF_INT64 : TUTTI__CDF_INT;
}

static inline void corpus_head(corpus_book *b) {
    const corpus_file *f = b->f;
    const float version = 6.02F;
    const int32_t real = f->real, large = f->fixed_time != 2, status = 7 << 10;
    tutti__cdf_init(&b->c, f->version);
    corpus_must(tutti__cdf_put_att(&b->c, -1, "api_version", TUTTI__CDF_FLOAT, 1, &version), "att");
    corpus_must(tutti__cdf_put_att(&b->c, -1, "version", TUTTI__CDF_FLOAT, 1, &version), "att");
    corpus_must(tutti__cdf_put_att(&b->c, -1, "floating_point_word_size", TUTTI__CDF_INT, 1, &real),
                "att");
    corpus_must(tutti__cdf_put_att(&b->c, -1, "file_size", TUTTI__CDF_INT, 1, &large), "att");
    if (f->name_length > 32) {
        const int32_t n = f->name_length;
        corpus_must(tutti__cdf_put_att(&b->c, -1, "maximum_name_length", TUTTI__CDF_INT, 1, &n),
                    "att");
    }
    if (f->integer == 8)
        corpus_must(tutti__cdf_put_att(&b->c, -1, "int64_status", TUTTI__CDF_INT, 1, &status),
                    "att");
    corpus_must(tutti__cdf_put_text(&b->c, -1, "title", f->file), "title");
    corpus_dim(b, "len_string", 33);
    corpus_dim(b, "len_line", 81);
    corpus_dim(b, "four", 4);
    corpus_dim(b, "len_name", f->name_length > 0 ? f->name_length + 1 : 33);
    tutti_count time = 0;
    corpus_must(tutti__cdf_add_dim(&b->c, "time_step", f->fixed_time ? f->steps : 0, &time),
                "time_step");
    corpus_dim(b, "num_dim", f->dims);
    corpus_dim(b, "num_nodes", corpus_nodes(f));
    corpus_dim(b, "num_elem", corpus_elements(f));
    corpus_dim(b, "num_el_blk", corpus_block_count(f));
    corpus_dim(b, "num_node_sets", corpus_set_count(f, 0));
    corpus_dim(b, "num_side_sets", corpus_set_count(f, 1));
    corpus_dim(b, "num_glo_var", f->globals);
    corpus_dim(b, "num_nod_var", f->nodals);
    corpus_dim(b, "num_elem_var", f->elementals);
    const tutti_count n = corpus_var(b, "time_whole", corpus_real_type(f), "time_step");
    for (tutti_count i = 0; i < n; i++) corpus_real(b, i, f->times[i]);
}

static inline void corpus_put_records(corpus_book *b) {
    if (!b->f->has_records) return;
    corpus_dim(b, "num_qa_rec", 1);
    corpus_dim(b, "num_info", 2);
    corpus_var(b, "qa_records", TUTTI__CDF_CHAR, "num_qa_rec four len_string");
    static const char *const QA[] = {"program", "1.0", "2024/01/31", "12:34:56"};
    for (int i = 0; i < 4; i++) corpus_text(b, i, 33, QA[i]);
    corpus_var(b, "info_records", TUTTI__CDF_CHAR, "num_info len_line");
    corpus_text(b, 0, 81, "[Mesh]");
    corpus_text(b, 1, 81, "  type = GeneratedMesh");
}

static inline void corpus_put_nodes(corpus_book *b) {
    const corpus_file *f = b->f;
    static const char *const NAMES[] = {"coordx", "coordy", "coordz"}, *const SHORT[] = {"x", "y",
                                                                                         "z"};
    if (f->fixed_time == 2) {
        const tutti_count n = corpus_var(b, "coord", corpus_real_type(f), "num_dim num_nodes");
        for (tutti_count i = 0; i < n; i++)
            corpus_real(b, i,
                        corpus_coordinate(f, (int)(i / corpus_nodes(f)), i % corpus_nodes(f)));
    }
    for (int c = 0; c < f->dims && f->fixed_time != 2; c++) {
        const tutti_count n = corpus_var(b, NAMES[c], corpus_real_type(f), "num_nodes");
        for (tutti_count i = 0; i < n; i++) corpus_real(b, i, corpus_coordinate(f, c, i));
    }
    corpus_var(b, "coor_names", TUTTI__CDF_CHAR, "num_dim len_name");
    for (int c = 0; c < f->dims; c++)
        corpus_text(b, c, (f->name_length > 0 ? f->name_length : 32) + 1, SHORT[c]);
    if (!f->has_maps) return;
    tutti_count n = corpus_var(b, "node_num_map", corpus_int_type(f), "num_nodes");
    for (tutti_count i = 0; i < n; i++) corpus_int(b, i, corpus_id(f, i));
    n = corpus_var(b, "elem_num_map", corpus_int_type(f), "num_elem");
    for (tutti_count i = 0; i < n; i++) corpus_int(b, i, corpus_id(f, i));
}

/* Write status, ids and names of the entities of a kind; `of`: "eb", "ns" or "ss". */
static inline void corpus_put_catalogue(corpus_book *b, const char *of, const char *dim) {
    const int is_block = of[0] == 'e', is_side = of[1] == 's' && of[0] == 's';
    const int n = is_block ? corpus_block_count(b->f) : corpus_set_count(b->f, is_side);
    char name[32];
    if (n == 0) return;
    snprintf(name, sizeof name, "%s_status", of);
    corpus_var(b, name, TUTTI__CDF_INT, dim);
    for (int k = 0; k < n; k++)
        corpus_int(b, k, is_block ? b->f->blocks[k].n > 0 : corpus_set_at(b->f, is_side, k).n > 0);
    snprintf(name, sizeof name, "%s_prop1", of);
    corpus_var(b, name, corpus_int_type(b->f), dim);
    corpus_must(tutti__cdf_put_text(&b->c, b->data[b->n - 1].var, "name", "ID"), name);
    for (int k = 0; k < n; k++)
        corpus_int(b, k, is_block ? b->f->blocks[k].id : corpus_set_at(b->f, is_side, k).id);
    if (b->f->name_length == 0) return;
    snprintf(name, sizeof name, "%s_names", of);
    corpus_var(b, name, TUTTI__CDF_CHAR,
               corpus_numbered(is_block  ? "num_el_blk len_name"
                               : is_side ? "num_side_sets len_name"
                                         : "num_node_sets len_name",
                               0));
    for (int k = 0; k < n; k++)
        corpus_text(b, k, b->f->name_length + 1,
                    is_block ? b->f->blocks[k].name : corpus_set_at(b->f, is_side, k).name);
}

static inline void corpus_put_blocks(corpus_book *b) {
    const corpus_file *f = b->f;
    tutti_count before = 0;
    char dims[100];
    corpus_put_catalogue(b, "eb", "num_el_blk");
    for (int k = 1; k <= corpus_block_count(f); before += f->blocks[k - 1].n, k++) {
        const corpus_block *e = &f->blocks[k - 1];
        if (e->n == 0) continue;
        corpus_dim(b, corpus_numbered("num_el_in_blk%d", k), e->n);
        corpus_dim(b, corpus_numbered("num_nod_per_el%d", k), e->per);
        snprintf(dims, sizeof dims, "num_el_in_blk%d num_nod_per_el%d", k, k);
        const tutti_count n =
            corpus_var(b, corpus_numbered("connect%d", k), corpus_int_type(f), dims);
        corpus_must(tutti__cdf_put_text(&b->c, b->data[b->n - 1].var, "elem_type", e->topology),
                    dims);
        for (tutti_count i = 0; i < n; i++)
            corpus_int(b, i, corpus_connectivity(f, before + i / e->per, (int)(i % e->per)));
        if (e->attributes == 0) continue;
        corpus_dim(b, corpus_numbered("num_att_in_blk%d", k), e->attributes);
        snprintf(dims, sizeof dims, "num_el_in_blk%d num_att_in_blk%d", k, k);
        const tutti_count m =
            corpus_var(b, corpus_numbered("attrib%d", k), corpus_real_type(f), dims);
        for (tutti_count i = 0; i < m; i++) corpus_real(b, i, corpus_attribute(k - 1, i));
    }
}

static inline void corpus_put_sets(corpus_book *b, int is_side) {
    const corpus_file *f = b->f;
    corpus_put_catalogue(b, is_side ? "ss" : "ns", is_side ? "num_side_sets" : "num_node_sets");
    for (int k = 1; k <= corpus_set_count(f, is_side); k++) {
        const tutti_count n = corpus_set_at(f, is_side, k - 1).n,
                          factors = corpus_factors(f, is_side, k - 1);
        const char *dim = corpus_numbered(is_side ? "num_side_ss%d" : "num_nod_ns%d", k);
        if (n == 0) continue;
        corpus_dim(b, dim, n);
        corpus_var(b, corpus_numbered(is_side ? "elem_ss%d" : "node_ns%d", k), corpus_int_type(f),
                   dim);
        for (tutti_count i = 0; i < n; i++) corpus_int(b, i, corpus_member(f, is_side, k - 1, i));
        if (is_side) {
            corpus_var(b, corpus_numbered("side_ss%d", k), corpus_int_type(f), dim);
            for (tutti_count i = 0; i < n; i++) corpus_int(b, i, corpus_side(f, k - 1, i));
        }
        if (factors == 0) continue;
        if (is_side) corpus_dim(b, dim = corpus_numbered("num_df_ss%d", k), factors);
        corpus_var(b, corpus_numbered(is_side ? "dist_fact_ss%d" : "dist_fact_ns%d", k),
                   corpus_real_type(f), dim);
        for (tutti_count i = 0; i < factors; i++) corpus_real(b, i, corpus_factor(k - 1, i));
    }
}

static inline void corpus_put_names(corpus_book *b, const char *name, const char *dims, int block,
                                    int n) {
    corpus_var(b, name, TUTTI__CDF_CHAR, dims);
    for (int v = 0; v < n; v++)
        corpus_text(b, v, (b->f->name_length > 0 ? b->f->name_length : 32) + 1,
                    corpus_variable(b->f, block, v));
}

static inline void corpus_put_nodal(corpus_book *b) {
    const corpus_file *f = b->f;
    const tutti_count nodes = corpus_nodes(f);
    corpus_put_names(b, "name_nod_var", "num_nod_var len_name", -1, f->nodals);
    if (f->fixed_time == 2) {
        const tutti_count n =
            corpus_var(b, "vals_nod_var", corpus_real_type(f), "time_step num_nod_var num_nodes");
        for (tutti_count i = 0; i < n; i++)
            corpus_real(b, i,
                        corpus_result((int)(i / nodes / f->nodals) + 1, -1,
                                      (int)(i / nodes % f->nodals), i % nodes));
        return;
    }
    for (int v = 0; v < f->nodals; v++) {
        const tutti_count n = corpus_var(b, corpus_numbered("vals_nod_var%d", v + 1),
                                         corpus_real_type(f), "time_step num_nodes");
        for (tutti_count i = 0; i < n; i++)
            corpus_real(b, i, corpus_result((int)(i / nodes) + 1, -1, v, i % nodes));
    }
}

static inline void corpus_put_elemental(corpus_book *b) {
    const corpus_file *f = b->f;
    const int blocks = corpus_block_count(f);
    char name[64], dims[64];
    corpus_put_names(b, "name_elem_var", "num_elem_var len_name", 0, f->elementals);
    corpus_var(b, "elem_var_tab", TUTTI__CDF_INT, "num_el_blk num_elem_var");
    for (int i = 0; i < blocks * f->elementals; i++)
        corpus_int(b, i, corpus_has(f, i / f->elementals, i % f->elementals));
    for (int v = 0; v < f->elementals; v++)
        for (int k = 0; k < blocks; k++) {
            if (!corpus_has(f, k, v)) continue;
            snprintf(name, sizeof name, "vals_elem_var%deb%d", v + 1, k + 1);
            snprintf(dims, sizeof dims, "time_step num_el_in_blk%d", k + 1);
            const tutti_count n = corpus_var(b, name, corpus_real_type(f), dims),
                              per = f->blocks[k].n;
            for (tutti_count i = 0; i < n; i++)
                corpus_real(b, i, corpus_result((int)(i / per) + 1, k, v, i % per));
        }
}

static inline void corpus_put_results(corpus_book *b) {
    const corpus_file *f = b->f;
    if (f->globals > 0) {
        corpus_put_names(b, "name_glo_var", "num_glo_var len_name", -2, f->globals);
        const tutti_count n =
            corpus_var(b, "vals_glo_var", corpus_real_type(f), "time_step num_glo_var");
        for (tutti_count i = 0; i < n; i++)
            corpus_real(b, i,
                        corpus_result((int)(i / f->globals) + 1, -2, (int)(i % f->globals), 0));
    }
    if (f->nodals > 0) corpus_put_nodal(b);
    if (f->elementals > 0) corpus_put_elemental(b);
}

/* Write one file of the corpus. */
static inline void corpus_write_one(const char *dir, const corpus_file *f) {
    static corpus_book b;
    char path[1200];
    memset(&b, 0, sizeof b);
    b.f = f;
    corpus_head(&b);
    corpus_put_records(&b);
    corpus_put_nodes(&b);
    corpus_put_blocks(&b);
    corpus_put_sets(&b, 0);
    corpus_put_sets(&b, 1);
    corpus_put_results(&b);
    snprintf(path, sizeof path, "%s/%s", dir, f->file);
    corpus_save(&b, path);
}

static inline void corpus_write(const char *dir) {
    for (int i = 0; i < CORPUS_FILES; i++) corpus_write_one(dir, &corpus_files[i]);
}

#endif
