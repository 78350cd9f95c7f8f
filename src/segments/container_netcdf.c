/* segments: netCDF data files (data-NNNNNN.nc): a topology is stored as fixed variables, a state as
 * a record.  A segment is part of the dataset as soon as the number of records in the header counts
 * it.
 *
 * All states of a file have the variables and types of its first one.  A segment that differs
 * begins another file if the difference is known before it begins (a topology, a new variable,
 * another type); otherwise it is refused.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "segments/dataset_impl.h"

#include <string.h>

/* ---- the file that segments go to */

/* Load the description of the file on rank 0 and broadcast it.   Collective. */
static tutti_err load_file(tutti_dataset *d, const tutti__datafile *file) {
    tutti__ncfile f = {0};
    const int root = d->team->rank == 0;
    tutti_err err = root ? tutti__ncfile_load(d->meta, &d->model, file->id, &f) : TUTTI_OK;
    TUTTI_TRY(tutti__team_agree(d->team, err));
    void *fixed = f.fixed, *state = f.state;
    err = tutti__team_broadcast(d->team, &f, (int)sizeof f);
    if (!root) fixed = state = NULL;
    size_t bytes = (size_t)f.fixed_n * sizeof *f.fixed;
    if (err == TUTTI_OK) err = tutti__team_broadcast_bytes(d->team, &fixed, &bytes);
    bytes = (size_t)f.state_n * sizeof *f.state;
    if (err == TUTTI_OK) err = tutti__team_broadcast_bytes(d->team, &state, &bytes);
    f.fixed = fixed;
    f.state = state;
    tutti__ncfile_free(&d->nc);
    if (err == TUTTI_OK)
        d->nc = f;
    else
        tutti__ncfile_free(&f);
    return err;
}

static int64_t find_last_variable(const tutti_dataset *d) {
    int64_t most = 0;
    for (int64_t i = 0; i < d->model.variables_n; i++)
        most = tutti__max(most, d->model.variables[i].id);
    return most;
}

static int is_file_known(const tutti_dataset *d, const tutti__datafile *file) {
    return d->nc.file == file->id;
}

static int file_continues(const tutti_dataset *d, int kind) {
    if (kind == TUTTI_TOPOLOGY) return 0;
    if (!d->nc.first.id) return tutti__netcdf_header_most(&d->model) <= d->nc.area;
    if (find_last_variable(d) > d->nc.defined) return 0;
    /* all states have the variables of the first state */
    for (int64_t i = 0; i < d->nc.state_n; i++) {
        const tutti__variable *v = tutti__model_variable_id(&d->model, d->nc.state[i].variable);
        if (!v || v->put_type != d->nc.state[i].type) return 0;
    }
    return 1;
}

static void place_record(const tutti_dataset *d, tutti__writing *w) {
    const tutti__ncfile none = {0}, *f = w->new_file ? &none : &d->nc;
    w->area = f->area;
    if (w->new_file)
        w->area = tutti__align_up(2 * tutti__netcdf_header_most(&d->model), TUTTI__NETCDF_ALIGN);
    if (f->first.id)
        w->segment.start = f->first.start + f->records * (f->first.end - f->first.start);
    else
        w->segment.start =
            tutti__align_up(tutti__max(w->area, f->topology.end), TUTTI__NETCDF_ALIGN);
    w->end = w->segment.start + (w->segment.kind == TUTTI_STATE ? TUTTI__NETCDF_TIME : 0);
}

/* The first commit writes the header of a new file; until then the file has none, even if its first
 * segment waits. */
static tutti_err prepare_netcdf_file(tutti_dataset *d, const tutti__writing *w) {
    if (w->new_file) return TUTTI_OK;
    if (d->has_leftovers && tutti__model_file_id(&d->model, w->row.id))
        TUTTI_TRY(tutti__netcdf_correct(d->path, d->meta, &d->model, &w->row));
    return tutti__cut_here(w->file, w->segment.start);
}

/* ---- variables that can be written */

static const tutti__section *find_variable_section(const tutti__section *v, int64_t n,
                                                   int64_t variable) {
    for (int64_t i = 0; i < n; i++)
        if (v[i].variable == variable) return &v[i];
    return NULL;
}

static tutti_err check_put(const tutti_dataset *d, const tutti__variable *v) {
    const tutti__ncfile *f = &d->nc;
    const tutti__size *z = tutti__model_size(&d->model, v->space, d->now.segment.id);
    tutti_count entries = 0;
    TUTTI_CHECK(
        z && tutti__shape_right(z->ndims, z->shape, &entries) && entries > 0, TUTTI_ERR_UNSUPPORTED,
        "variable '%s' has no entries: netCDF cannot store dimensions of length 0", v->name);
    const int state = d->now.segment.kind == TUTTI_STATE;
    TUTTI_CHECK(!state || !find_variable_section(f->fixed, f->fixed_n, v->id),
                TUTTI_ERR_UNSUPPORTED,
                "variable '%s' was written in the topology of '%s': a netCDF file cannot store it "
                "in states as well",
                v->name, d->now.row.name);
    if (state && f->first.id) {
        const tutti__section *s = find_variable_section(f->state, f->state_n, v->id);
        TUTTI_CHECK(s, TUTTI_ERR_UNSUPPORTED,
                    "variable '%s' is not in the earlier states of '%s': all states of a netCDF "
                    "file have the same variables",
                    v->name, d->now.row.name);
        TUTTI_CHECK(s->type == v->put_type, TUTTI_ERR_UNSUPPORTED,
                    "variable '%s' has type %s in '%s': change its type before the segment begins",
                    v->name, tutti_type_name((tutti_type)s->type), d->now.row.name);
        return TUTTI_OK;
    }
    TUTTI_CHECK(tutti__netcdf_header_most(&d->model) <= f->area, TUTTI_ERR_UNSUPPORTED,
                "variable '%s': the netCDF header may need %lld bytes, but only %lld are reserved; "
                "discard the segment and begin it again",
                v->name, (long long)tutti__netcdf_header_most(&d->model), (long long)f->area);
    return TUTTI_OK;
}

/* Return the offset of a section in a record: as in the first record of the file, or after the
 * previous section. */
static tutti_off find_record_offset(const tutti_dataset *d, const tutti__section *of,
                                    tutti_off bytes) {
    const tutti__ncfile *f = &d->nc;
    if (d->now.segment.kind == TUTTI_TOPOLOGY)
        return tutti__container_native.section_start(d, of, bytes);
    const tutti__section *s = find_variable_section(f->state, f->state_n, of->variable);
    return s ? s->start - f->first.start + d->now.segment.start : tutti__align_up(d->now.end, 4);
}

static tutti_err check_commit(const tutti_dataset *d) {
    const tutti__ncfile *f = &d->nc;
    if (d->now.segment.kind != TUTTI_STATE) return TUTTI_OK;
    for (int64_t i = 0; i < f->state_n; i++) {
        const tutti__variable *v = tutti__model_variable_id(&d->model, f->state[i].variable);
        TUTTI_CHECK(tutti__writing_section(&d->now, v->id, 0), TUTTI_ERR_UNSUPPORTED,
                    "variable '%s' has not been written: all states of a netCDF file have the same "
                    "variables",
                    v->name);
    }
    return TUTTI_OK;
}

/* ---- complete segments */

/* Return the description of the file including the segment being written; it owns no memory. */
static tutti__ncfile describe_with_current(const tutti_dataset *d) {
    tutti__ncfile f = d->nc;
    const tutti__writing *w = &d->now;
    if (w->segment.kind == TUTTI_TOPOLOGY) {
        f.topology = w->segment;
        f.fixed = w->sections;
        f.fixed_n = w->sections_n;
    } else if (!f.first.id) {
        f.first = w->segment;
        f.state = w->sections;
        f.state_n = w->sections_n;
        f.defined = find_last_variable(d);
    }
    return f;
}

static void end_record(tutti_dataset *d) {
    tutti__segment_row *g = &d->now.segment;
    if (g->kind == TUTTI_STATE && d->nc.first.id)
        g->end = g->start + d->nc.first.end - d->nc.first.start;
    else
        g->end = tutti__align_up(d->now.end, 4);
    g->trailer = g->end;
}

/* Return the value of the key "defined" in the database after this commit; 0: unchanged. */
static int64_t find_defined(const tutti_dataset *d) {
    const tutti__ncfile f = describe_with_current(d);
    return f.first.id && f.defined != d->model.defined ? f.defined : 0;
}

/* Return the number of states of a file that are part of the dataset. */
static tutti_count count_states(const tutti_dataset *d, int64_t file) {
    tutti_count n = 0;
    for (int64_t i = 0; i < d->model.segments_n; i++)
        n += d->model.segments[i].file == file && d->model.segments[i].kind == TUTTI_STATE;
    return n;
}

static int64_t first_of_commit(const tutti_dataset *d) {
    return d->waiting_n ? d->waiting[0].segment.id : d->now.segment.id;
}

/* Write the rows, and the header, time and length of the file. */
static tutti_err finish_record(tutti_dataset *d, const tutti__trailer_spec *spec) {
    const tutti__segment_row *g = &d->now.segment;
    tutti__ncfile f = describe_with_current(d);
    unsigned char time[TUTTI__NETCDF_TIME];
    void *header = NULL;
    tutti_off bytes = 0, end = g->end;
    const int64_t defined = find_defined(d);
    (void)spec; /* netCDF files have no trailers */
    TUTTI_TRY(tutti__meta_set(d->meta, "commit", first_of_commit(d)));
    if (defined) TUTTI_TRY(tutti__meta_set(d->meta, "defined", defined));
    TUTTI_TRY(tutti__meta_add_segment(d->meta, g));
    f.records = count_states(d, f.file);
    if (g->kind == TUTTI_TOPOLOGY || !d->nc.first.id) {
        TUTTI_TRY(tutti__netcdf_header(&d->model, &f, &header, &bytes));
        const tutti_err err = tutti__file_put(d->now.file, 0, bytes, header);
        tutti__free(header);
        TUTTI_TRY(err);
        if (g->end == g->start) end = bytes; /* the file has only a header */
    }
    if (g->kind == TUTTI_STATE) {
        tutti__netcdf_time(g, time);
        TUTTI_TRY(tutti__file_put(d->now.file, g->start, sizeof time, time));
    }
    return tutti__netcdf_extend(d->path, d->now.row.name, end);
}

/* Set the number of records of all files that have states of this commit. */
static tutti_err publish_records(const tutti_dataset *d) {
    for (int64_t i = 0; i <= d->waiting_n; i++) {
        const tutti__writing *w = i == d->waiting_n ? &d->now : &d->waiting[i];
        tutti_count n = 0;
        int last = w->segment.kind == TUTTI_STATE;
        for (int64_t j = 0; j <= d->waiting_n && last; j++) {
            const tutti__writing *o = j == d->waiting_n ? &d->now : &d->waiting[j];
            const int same = o->segment.kind == TUTTI_STATE && o->row.id == w->row.id;
            n += same;
            last = !(same && j > i);
        }
        if (last)
            TUTTI_TRY(tutti__netcdf_records_set(d->path, w->row.name,
                                                count_states(d, w->row.id) + n,
                                                d->opt.level == TUTTI_DURABLE));
    }
    return TUTTI_OK;
}

static tutti_err copy_sections(const tutti__section *from, int64_t n, tutti__section **out) {
    *out = tutti__malloc((size_t)n * sizeof *from);
    if (!*out) return TUTTI_ERR_NOMEM;
    if (n) memcpy(*out, from, (size_t)n * sizeof *from);
    return TUTTI_OK;
}

static tutti_err copy_description(const tutti_dataset *d, tutti__ncfile *out) {
    tutti__ncfile f = describe_with_current(d);
    const tutti_err err = copy_sections(f.fixed, f.fixed_n, &f.fixed);
    if (err == TUTTI_OK && copy_sections(f.state, f.state_n, &f.state) != TUTTI_OK) {
        tutti__free(f.fixed);
        return TUTTI_ERR_NOMEM;
    }
    if (err != TUTTI_OK) return err;
    f.records += d->now.segment.kind == TUTTI_STATE;
    *out = f;
    return TUTTI_OK;
}

static void adopt_committed_file(tutti_dataset *d) {
    const int64_t defined = find_defined(d);
    d->model.commit = first_of_commit(d);
    if (defined) d->model.defined = defined;
    tutti__ncfile_free(&d->nc);
    d->nc = d->nc_next;
    d->nc_next = (tutti__ncfile){0};
}

/* ---- discard, erase, verify */

/* The file may already have another header, or may be new with a first segment that waits. */
static tutti_err discard_record(tutti_dataset *d, const tutti__writing *w) {
    const int root = d->team->rank == 0 && tutti__model_file_id(&d->model, w->row.id);
    return tutti__team_agree(
        d->team, root ? tutti__netcdf_correct(d->path, d->meta, &d->model, &w->row) : TUTTI_OK);
}

/* Reset "defined", since the definitions with which the last remaining file was created are
 * unknown. */
static tutti_err erase_rows(void *context) {
    const tutti__info_carry *c = context;
    return tutti__meta_set(c->dataset->meta, "defined", 0);
}

static tutti_err reclaim_netcdf_file(const tutti_dataset *d, const tutti__datafile *f) {
    return tutti__netcdf_correct(d->path, d->meta, &d->model, f);
}

static tutti_err check_file(const tutti_dataset *d, const tutti__datafile *f) {
    if (!tutti__model_file_in_use(&d->model, f->id)) return TUTTI_OK;
    return tutti__netcdf_compare(d->path, d->meta, &d->model, f, NULL);
}

const tutti__container tutti__container_netcdf = {
    .name = "netCDF",
    .extension = "nc",
    .archive_error = "states of netCDF files cannot be archived, because records cannot be "
                     "removed; archive whole files",
    .order = TUTTI_BIG_ENDIAN,
    .own_order = TUTTI_BIG_ENDIAN,
    .least_entries = 1,
    .space_check = tutti__netcdf_space_check,
    .variable_check = tutti__netcdf_variable_check,
    .type_check = tutti__netcdf_type_check,
    .is_known = is_file_known,
    .load = load_file,
    .continues = file_continues,
    .place = place_record,
    .prepare = prepare_netcdf_file,
    .put_check = check_put,
    .section_start = find_record_offset,
    .commit_check = check_commit,
    .end = end_record,
    .finish = finish_record,
    .publish = publish_records,
    .committed = adopt_committed_file,
    .set_aside = copy_description,
    .discard = discard_record,
    .erase = erase_rows,
    .reclaim = reclaim_netcdf_file,
    .file_check = check_file,
    .compare = tutti__checksums_by_section,
};
