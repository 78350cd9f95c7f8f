/* tutti-experiments sections: common declarations of its files.
 *
 *   sections_table.c   the sections, in Thakur and Choudhary's notation, scaled to the size of the array
 *   sections_run.c     sections as benchmarks of bench.h: pattern, runners, verification
 *   distributions.c    distributions of whole arrays as benchmarks of bench.h
 *   exp_sections.c     points, figures, gates
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_SECTIONS_H
#define TUTTI_CLI_SECTIONS_H

#include "experiments/experiment.h"

#include <tutti/array.h>

enum { SECTION_BLOCK = 512 }; /* doubles per block of O_DIRECT */

typedef enum section_part {
    PART_COMMON,
    PART_OVERLAPPING,
    PART_DISTINCT,
    PARTS_OF_SECTIONS
} section_part;

/* One row of a table: the requests of `ranks` ranks for sections of an array of n x n doubles, column-major. */
typedef struct section_what {
    section_part part;
    int row;
    int ranks;
    tutti_count n;
    int whole_blocks; /* ranges of rows are extended to whole blocks of O_DIRECT */
} section_what;

int section_rows(section_part part);
const char *section_part_name(section_part part);
/* Return the request of rank p. */
tutti_slice section_slice(const section_what *what, int p);
/* Format a row as the paper does, with p for the rank: "III (400:800:1, 400:800:1)". */
void section_name(const section_what *what, char *out, size_t size);
/* Return the ratio of the times of Direct and Extended in the paper; 0: unknown. */
double section_paper_ratio(const section_what *what);
/* Return the bytes of the smallest section that contains the requests of all ranks. */
tutti_off section_bounding_bytes(const section_what *what);
tutti_count section_bounding_rows(const section_what *what);

tutti_array_spec section_spec(tutti_count n);

/* ---- scenes and variants */
extern const bench_scene section_scene;
/* The file is opened in prepare; only the call is timed. */
extern const bench_runner section_direct, section_extended;
/* Record statistics of the open array; close it. */
void array_way_stats(const bench_job *job, bench_entry *e);
void array_way_end(bench_job *job, bench_entry *e);

/* ---- distributions of a whole array */
typedef struct distribution_what {
    int row;
    int ranks;
    tutti_count n;
} distribution_what;

int distribution_rows(void);
const char *distribution_name(int row);
extern const bench_scene distribution_scene;
extern const bench_runner distribution_runner; /* timed from open to close */

#endif
