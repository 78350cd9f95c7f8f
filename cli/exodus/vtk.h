/* VTK's unstructured grids: XML files with appended binary data.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_EXODUS_VTK_H
#define TUTTI_CLI_EXODUS_VTK_H

#include "exodus/cmd_exodus.h"

/* An array of the file, whose data is appended after the XML part. */
typedef struct vtk_array {
    const char *section; /* "Points", "Cells", "PointData", "CellData" */
    char *name;
    const char *type; /* VTK's name: "Float64", "Int64", "Int32", "UInt8" */
    int components;
    size_t bytes;
    void *data;
    int variable; /* number of the variable whose values in one step `data` contains; -1: none */
} vtk_array;

typedef struct vtk_grid {
    tutti_count points, cells;
    vtk_array *array;
    int arrays;
} vtk_grid;

/* Append an array of n zeros.  Returns its data. */
void *vtk_add(vtk_grid *g, const char *section, const char *name, const char *type, int components,
              tutti_count n);
void vtk_free(vtk_grid *g);

/* A growing list of integers, written as an array of the cells. */
typedef struct vtk_numbers {
    int64_t *v;
    size_t n, capacity;
} vtk_numbers;
void vtk_number(vtk_numbers *l, int64_t v);
/* Append the list as an array of section "Cells", and free the list. */
void vtk_add_numbers(vtk_grid *g, const char *name, vtk_numbers *l);

/* Write a file.  Returns 0, or 1 and a message. */
int vtk_write(const vtk_grid *g, const char *path);
/* Write the file that names the pieces of all ranks: STEM-p0.vtu and so on. */
int vtk_write_pieces(const vtk_grid *g, const char *path, const char *stem, int ranks);
void vtk_head(FILE *f, const char *type);

/* Create a grid of the members of node and side sets: vertices and sides, with the ids of the sets. */
int vtk_sets(const exodus_outline *o, const tutti_exodus_mesh *m, vtk_grid *out);
void vtk_points(const exodus_outline *o, const tutti_exodus_mesh *m, vtk_grid *g);

#endif
