/* mesh: reading and writing files of any format.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mesh/mesh_impl.h"

#include <string.h>

/* Distribute the mesh that rank 0 has read, with groups and memberships.   Collective. */
static tutti_err distribute_from_root(tutti_mesh *m, tutti_err local_err, tutti__mesh_data *all) {
    int64_t n[2] = {all->groups, all->members};
    TUTTI_TRY(tutti__mesh_distribute(m, local_err, all));
    TUTTI_TRY(tutti__team_sum(m->team, n, 2));
    const int64_t groups = n[0];
    m->own.group = tutti__calloc((size_t)groups + 1, sizeof *m->own.group);
    m->own.member = tutti__calloc((size_t)n[1] + 1, sizeof *m->own.member);
    const tutti_err fits =
        groups < (1 << 20)
            ? TUTTI_OK
            : tutti__error_set(TUTTI_ERR_OVERFLOW, 0, -1,
                               "mesh has %lld physical groups: at most 2^20 - 1 are supported",
                               (long long)groups);
    TUTTI_TRY(tutti__team_agree(m->team, m->own.group && m->own.member ? fits : TUTTI_ERR_NOMEM));
    m->own.groups = (int)groups;
    if (all->groups > 0) memcpy(m->own.group, all->group, (size_t)groups * sizeof *all->group);
    TUTTI_TRY(
        tutti__team_broadcast(m->team, m->own.group, (int)((size_t)groups * sizeof *all->group)));
    m->own.members = n[1];
    if (all->members > 0) memcpy(m->own.member, all->member, (size_t)n[1] * sizeof *all->member);
    return tutti__team_broadcast(m->team, m->own.member, (int)((size_t)n[1] * sizeof *all->member));
}

static tutti_err read_on_root(tutti_mesh *m, MPI_Comm comm, const char *path,
                              const tutti_options *opt) {
    int native = 0;
    tutti__mesh_data all = {.nodes = 0};
    tutti_count none = 0;
    /* Rank 0 reads the first bytes and broadcasts them, to determine the format. */
    unsigned char first[TUTTI__MESH_MAGIC_BYTES] = {0};
    tutti_err opened = TUTTI_OK;
    if (m->team->rank == 0) {
        tutti_options alone = *opt;
        tutti_file *f = NULL;
        tutti_access *a = NULL;
        alone.nodes[0] = '\0';
        opened = tutti_file_open(MPI_COMM_SELF, path, TUTTI_READ, &alone, &f);
        if (opened == TUTTI_OK) opened = tutti_access_contiguous(0, sizeof first, &a);
        if (opened == TUTTI_OK) opened = tutti_file_read_independent(f, a, first, NULL);
        tutti_access_free(&a);
        if (f) opened = TUTTI_ALSO(opened, tutti_file_close(&f));
    }
    TUTTI_TRY(tutti__team_agree(m->team, opened));
    TUTTI_TRY(tutti__team_broadcast(m->team, first, sizeof first));
    native = memcmp(first, tutti__mesh_magic, sizeof first) == 0;
    if (native) return tutti__native_read(m, comm, path, opt);
    tutti_err err = m->team->rank == 0 ? tutti__gmsh_read(path, opt, &all) : TUTTI_OK;
    if (m->team->rank > 0) all.start = &none;
    err = distribute_from_root(m, err, &all);
    if (m->team->rank == 0) tutti__mesh_data_free(&all);
    return err;
}

tutti_err tutti_mesh_open(MPI_Comm comm, const char *path, const tutti_options *opt,
                          tutti_mesh **m_out) {
    TUTTI_KEEP_ERRNO;
    tutti_mesh *m = NULL;
    tutti_options full;
    tutti_err err = tutti__object_options(opt, &full);
    if (err == TUTTI_OK && (!path || !path[0]))
        err =
            tutti__error_set(TUTTI_ERR_ARG, 0, -1, "argument path is %s", path ? "empty" : "NULL");
    if (err == TUTTI_OK && !m_out)
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "argument m_out is NULL");
    TUTTI_TRY(
        tutti__mesh_begin(comm, &(tutti__call){.name = "open", .what = "the path"}, path, err, &m));
    err = read_on_root(m, comm, path, &full);
    if (err != TUTTI_OK) tutti__error_context("open", path, -1);
    return tutti__mesh_hand_over(m, err, m_out);
}

tutti_err tutti_mesh_write(tutti_mesh *m, const char *path, tutti_mesh_format format,
                           const tutti_options *opt) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__mesh_live(m));
    tutti_options full;
    uint64_t h = tutti__hash(TUTTI__HASH_START, &format, sizeof format);
    if (path) h = tutti__hash(h, path, strlen(path));
    tutti_err err = tutti__object_options(opt, &full);
    if (err == TUTTI_OK && (!path || !path[0]))
        err =
            tutti__error_set(TUTTI_ERR_ARG, 0, -1, "argument path is %s", path ? "empty" : "NULL");
    if (err == TUTTI_OK && ((int)format < 0 || format > TUTTI_MESH_GMSH_22_BINARY))
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "unknown mesh format %d", (int)format);
    const tutti__call o = {.name = "write", .what = "path or format", .hash = h};
    TUTTI_TRY(tutti__object_call(&m->object, &o, err));
    if (format == TUTTI_MESH_NATIVE) {
        err = tutti__native_write(m, path, &full);
    } else {
        tutti__mesh_data all = {.nodes = 0};
        TUTTI_TRY(tutti__mesh_gather(m, &all));
        all.group = m->own.group;
        all.groups = m->own.groups;
        all.member = m->own.member;
        all.members = m->own.members;
        if (m->team->rank == 0) err = tutti__gmsh_write(path, format, &full, &all);
        err = tutti__team_agree(m->team, err);
        all.group = NULL; /* both arrays belong to the mesh */
        all.member = NULL;
        tutti__mesh_data_free(&all);
    }
    if (err != TUTTI_OK) tutti__error_context("write", path, -1);
    return err;
}
