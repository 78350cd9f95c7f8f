/* The Exodus file with mesh, sets and results, from which the program can also restart.
 *
 * A new run continues like a restart: each rank writes its part of the mesh, which is then read and
 * distributed by a partitioner, with one layer of ghost elements.  Copies on several ranks are
 * equal and are written once.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "heat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct results {
    tutti_exodus *x;
    const tutti_exodus_mesh *mesh;
    domain *d;
    double *flux[2][3]; /* of the elements of each block, in the order of get_mesh */
    double *inflow;     /* of the heated sides, in the order of get_mesh */
};

static const char *const directions[] = {"flux_x", "flux_y", "flux_z"};

void results_create(MPI_Comm comm, const char *path, const settings *s) {
    tutti_exodus_options opt;
    tutti_exodus_options_init(&opt);
    opt.overwrite = 1;
    tutti_exodus *x = NULL;
    must(tutti_exodus_create(comm, path, &opt, &x));
    must(tutti_exodus_init(
        x, &(tutti_exodus_parameters){.title = "heat in a rod of two materials", .dims = 3}));
    must(tutti_exodus_define(
        x, 4,
        (tutti_exodus_entity[]){
            {.kind = TUTTI_EXODUS_ELEMENT_BLOCK, .id = HEXES, .topology = "HEX8", .name = "steel"},
            {.kind = TUTTI_EXODUS_ELEMENT_BLOCK, .id = TETS, .topology = "TET4", .name = "copper"},
            {.kind = TUTTI_EXODUS_NODE_SET, .id = COLD, .name = "cold"},
            {.kind = TUTTI_EXODUS_SIDE_SET, .id = HEATED, .name = "heated"}}));
    must(tutti_exodus_variables(x, TUTTI_EXODUS_GLOBAL, 2, (const char *[]){"energy", "hottest"}));
    must(tutti_exodus_variables(x, TUTTI_EXODUS_NODAL, 1, (const char *[]){"temperature"}));
    must(tutti_exodus_variables(x, TUTTI_EXODUS_ELEMENT_BLOCK, 3, directions));
    must(tutti_exodus_variables(x, TUTTI_EXODUS_SIDE_SET, 1, (const char *[]){"inflow"}));
    must(tutti_exodus_property(x, TUTTI_EXODUS_ELEMENT_BLOCK, "material", (int64_t[]){1, 2}));
    must(tutti_exodus_put_qa(
        x, 1, &(tutti_exodus_qa){.program = "heat", .version = "1", .date = "", .time = ""}));
    char line[80];
    snprintf(line, sizeof line, "cells %d spot %d dt %.17g every %d", s->cells, s->spot, s->dt,
             s->every);
    must(tutti_exodus_put_info(x, 1, (const char *[]){line}));
    bricks *b = bricks_make(comm, s);
    must(tutti_exodus_put_mesh(x, &b->mesh));
    bricks_free(b);
    must(tutti_exodus_close(&x));
}

/* Parse "NAME NUMBER" at *at, and advance *at.  Returns 0 if the text is different. */
static int read_number(const char **at, const char *name, double *out) {
    const size_t n = strlen(name);
    char *end = NULL;
    if (!*at || strncmp(*at, name, n) != 0 || (*at)[n] != ' ') return 0;
    *out = strtod(*at + n, &end);
    const int found = end != *at + n;
    *at = *end == ' ' ? end + 1 : end;
    return found;
}

/* Read the parameters that results_create has written. */
static int read_settings(const tutti_exodus *x, settings *s) {
    const char *line = tutti_exodus_info_line(x, 0);
    double cells, spot, dt, every;
    if (!read_number(&line, "cells", &cells) || !read_number(&line, "spot", &spot) ||
        !read_number(&line, "dt", &dt) || !read_number(&line, "every", &every) || !(dt > 0) ||
        !(every >= 1))
        return 0;
    *s = (settings){.cells = (int)cells, .spot = (int)spot, .dt = dt, .every = (int)every};
    return 1;
}

results *results_open(MPI_Comm comm, const char *path, tutti_exodus_partitioner by,
                      settings *s_out) {
    results *r = room(1, sizeof *r);
    must(tutti_exodus_open(comm, path, TUTTI_READ | TUTTI_WRITE, NULL, &r->x));
    if (!read_settings(r->x, s_out)) give_up("'%s' is not a file of this program", path);
    must(tutti_exodus_get_mesh(r->x, &(tutti_exodus_distribution){.partitioner = by, .halo = 1},
                               &r->mesh));
    tutti_count own[2];
    for (int k = 0; k < 2; k++)
        own[k] = tutti_exodus_own_elements(r->x, TUTTI_EXODUS_ELEMENT_BLOCK, k);
    r->d = domain_make(comm, r->mesh, own);
    for (int k = 0; k < 2; k++)
        for (int c = 0; c < 3; c++)
            r->flux[k][c] = room(r->mesh->blocks[k].n, sizeof *r->flux[k][c]);
    r->inflow = room(r->mesh->side_sets[0].n, sizeof *r->inflow);
    return r;
}

domain *results_domain(const results *r) {
    return r->d;
}

static tutti_exodus_field temperature(double *u) {
    return (tutti_exodus_field){
        .kind = TUTTI_EXODUS_NODAL, .variable = "temperature", .type = TUTTI_FLOAT64, .buf = u};
}

int results_last(results *r, double *time_out, double *u_out) {
    const tutti_count steps = tutti_exodus_steps(r->x);
    if (steps == 0) return 0;
    const tutti_exodus_field f = temperature(u_out);
    must(tutti_exodus_get(r->x, steps, 1, &f));
    must(tutti_exodus_times(r->x, steps, 1, time_out));
    return (int)steps;
}

/* Compute the heat flux in elements and through the heated sides. */
static void find_fluxes(results *r, const double *u) {
    const domain *d = r->d;
    for (int e = 0; e < d->elements; e++) {
        const element *el = &d->element[e];
        double flux[3];
        element_flux(d, el, u, flux);
        for (int c = 0; c < 3; c++) r->flux[el->block][c][el->place] = flux[c];
    }
    const tutti_exodus_members *set = &r->mesh->side_sets[0];
    const double *factor = set->factors;
    for (tutti_count i = 0; i < set->n; i++) {
        const char *topology = set->members[i] < r->mesh->blocks[0].n ? "HEX8" : "TET4";
        const int corners = tutti_exodus_side_nodes(topology, 0, 3, set->sides[i], NULL);
        double sum = 0;
        for (int a = 0; a < corners; a++) sum += factor ? *factor++ : 1;
        r->inflow[i] = 100 * sum / corners;
    }
}

void results_write(results *r, const problem *p, double time, double *u) {
    double global[2] = {problem_energy(p, u), 0}, hottest = u[0];
    for (int i = 0; i < r->d->nodes; i++) hottest = u[i] > hottest ? u[i] : hottest;
    MPI_Allreduce(&hottest, &global[1], 1, MPI_DOUBLE, MPI_MAX, r->d->comm);
    find_fluxes(r, u);
    tutti_exodus_field fields[9] = {
        temperature(u), {.kind = TUTTI_EXODUS_GLOBAL, .type = TUTTI_FLOAT64, .buf = global}};
    int n = 2;
    for (int k = 0; k < 2; k++)
        for (int c = 0; c < 3; c++)
            fields[n++] = (tutti_exodus_field){.kind = TUTTI_EXODUS_ELEMENT_BLOCK,
                                               .id = k == 0 ? HEXES : TETS,
                                               .variable = directions[c],
                                               .type = TUTTI_FLOAT64,
                                               .buf = r->flux[k][c]};
    fields[n++] = (tutti_exodus_field){.kind = TUTTI_EXODUS_SIDE_SET,
                                       .id = HEATED,
                                       .variable = "inflow",
                                       .type = TUTTI_FLOAT64,
                                       .buf = r->inflow};
    must(tutti_exodus_begin(r->x, time));
    must(tutti_exodus_put(r->x, n, fields));
    must(tutti_exodus_commit(r->x));
}

void results_close(results *r) {
    if (!r) return;
    must(tutti_exodus_close(&r->x));
    domain_free(r->d);
    for (int k = 0; k < 2; k++)
        for (int c = 0; c < 3; c++) free(r->flux[k][c]);
    free(r->inflow);
    free(r);
}
