/* mpiio: views.  The filetype is decoded once, when the view is set; the time of data calls then
 * depends only on their own datatypes.  Ranks agree on a view before it is used: if the view is
 * invalid on one rank, no rank sets it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "request.h"

static const char *const representations[] = {"native", "internal", "external32"};
enum { EXTERNAL = 2, REPRESENTATIONS = 3 };

static int type_keep(MPI_Datatype type, MPI_Datatype *out) {
    if (!mpiio_type_is_named(type)) return PMPI_Type_dup(type, out);
    *out = type;
    return MPI_SUCCESS;
}

static void type_drop(MPI_Datatype *type) {
    if (*type != MPI_DATATYPE_NULL && !mpiio_type_is_named(*type)) PMPI_Type_free(type);
    *type = MPI_DATATYPE_NULL;
}

/* ---- valid views */

static int representation_of(const char *name) {
    for (int i = 0; name && i < REPRESENTATIONS; i++)
        if (strcmp(name, representations[i]) == 0) return i;
    return -1;
}

static int check_displacement(const mpiio_file *f, MPI_Offset displacement) {
    const int current = displacement == MPI_DISPLACEMENT_CURRENT;
    if (f->amode & MPI_MODE_SEQUENTIAL)
        return current ? MPI_SUCCESS
                       : mpiio_complain(MPI_ERR_ARG,
                                        "displacement is %lld: must be MPI_DISPLACEMENT_CURRENT "
                                        "for a file opened with MPI_MODE_SEQUENTIAL",
                                        (long long)displacement);
    if (current)
        return mpiio_complain(MPI_ERR_ARG, "MPI_DISPLACEMENT_CURRENT requires MPI_MODE_SEQUENTIAL");
    if (displacement >= 0) return MPI_SUCCESS;
    return mpiio_complain(MPI_ERR_ARG, "displacement is %lld: must be >= 0",
                          (long long)displacement);
}

/* Record the error of an invalid type, and return its class.  MPI has no class for decreasing
 * displacements; both MPI libraries return MPI_ERR_IO. */
static int complain_type(tutti_err err) {
    if (err != TUTTI_ERR_ARG) return mpiio_complain_tutti(err);
    return mpiio_complain(MPI_ERR_IO, "%s", tutti_last_message());
}

static int check_etype(MPI_Datatype etype, int writes) {
    tutti_view *v = NULL;
    const mpiio_view tiled = {.tile = etype};
    if (mpiio_type_is_named(etype)) return MPI_SUCCESS;
    const tutti_err err = tutti_view_make(0, etype, &v);
    tutti_view_free(&v);
    if (err == TUTTI_OK || (err == TUTTI_ERR_ARG && !writes && mpiio_repeat_legal(&tiled)))
        return MPI_SUCCESS;
    return complain_type(err);
}

static int check_types(const mpiio_file *f, MPI_Datatype etype, MPI_Datatype filetype) {
    MPI_Count esize = 0, fsize = 0;
    int code = mpiio_type_check(f, etype);
    if (code == MPI_SUCCESS) code = mpiio_type_check(f, filetype);
    if (code != MPI_SUCCESS) return code;
    PMPI_Type_size_x(etype, &esize);
    PMPI_Type_size_x(filetype, &fsize);
    if (esize == 0 ? fsize != 0 : fsize % esize != 0)
        return mpiio_complain(MPI_ERR_ARG,
                              "the filetype has %lld bytes, not a multiple of the etype's %lld",
                              (long long)fsize, (long long)esize);
    return etype == filetype ? MPI_SUCCESS : check_etype(etype, !(f->amode & MPI_MODE_RDONLY));
}

/* ---- creation of a view */

void mpiio_view_drop(mpiio_view *v) {
    tutti_view_free(&v->tiles);
    type_drop(&v->etype);
    type_drop(&v->filetype);
    type_drop(&v->tile);
}

/* Set size, extent and bounds of the tile.  MPI_Type_get_true_extent is not used, since MPICH 4.0
 * has wrong true bounds for some darrays. */
static int measure_tile(mpiio_view *v, MPI_Datatype tile) {
    MPI_Count size = 0, lb = 0, extent = 0;
    tutti_off lo = 0, hi = 0;
    int code = MPI_SUCCESS;
    PMPI_Type_size_x(tile, &size);
    PMPI_Type_get_extent_x(tile, &lb, &extent);
    v->tile_size = size;
    v->tile_extent = extent;
    if (v->tiles) {
        tutti_view_bounds(v->tiles, &lo, &hi);
        v->tile_begin = lo;
        v->tile_end = hi;
    } else {
        code = mpiio_repeat_bounds(v, &v->tile_begin, &v->tile_end);
    }
    /* with repeated bytes, size and extent may be equal in spite of holes */
    v->plain = v->tiles && size == extent && v->tile_begin == 0 && v->tile_end == size;
    return code;
}

static int tile_repeats(mpiio_view *v, MPI_Datatype tile) {
    const int code = PMPI_Type_dup(tile, &v->tile);
    if (code != MPI_SUCCESS || v->tiles || mpiio_repeat_legal(v)) return code;
    return mpiio_complain(MPI_ERR_IO, "the displacements of the filetype decrease or are negative");
}

/* Decode the tile.  Repeated bytes are only allowed in files that are opened for reading.  v->tile
 * is also set if tiles overlap, for calls that span several tiles, which may interleave (columns of
 * a matrix). */
static int tile_read(mpiio_view *v, MPI_Datatype tile, int writes) {
    const tutti_err err = tutti_view_make(v->displacement, tile, &v->tiles);
    if (err != TUTTI_OK && (err != TUTTI_ERR_ARG || writes)) return complain_type(err);
    int code = err == TUTTI_OK ? MPI_SUCCESS : tile_repeats(v, tile);
    if (code == MPI_SUCCESS) code = measure_tile(v, tile);
    if (code != MPI_SUCCESS || v->tile_size == 0) return code;
    if (v->tiles && v->tile_extent < v->tile_end - v->tile_begin) return tile_repeats(v, tile);
    if (v->tiles || v->tile_extent >= 0) return MPI_SUCCESS;
    return mpiio_complain(MPI_ERR_IO, "the extent of the filetype is negative");
}

/* Set the types and the tile of a view.  The tile is the filetype, unless numbers have other sizes
 * in the file. */
static int view_fill(mpiio_view *v, MPI_Datatype etype, MPI_Datatype filetype, int writes) {
    MPI_Count size = 0;
    int code = type_keep(etype, &v->etype);
    if (code == MPI_SUCCESS) code = type_keep(filetype, &v->filetype);
    PMPI_Type_size_x(etype, &size);
    v->etype_size = size;
    if (code == MPI_SUCCESS && v->external) code = mpiio_external_size(etype, &v->etype_size);
    if (v->etype_size == 0) v->etype_size = 1;
    MPI_Datatype tile = v->filetype;
    if (code == MPI_SUCCESS && v->external) code = mpiio_external_type(v->filetype, &tile);
    if (code != MPI_SUCCESS) return code;
    code = tile_read(v, tile, writes);
    if (v->external) PMPI_Type_free(&tile);
    return code;
}

static int view_make(const mpiio_file *f, MPI_Offset displacement, MPI_Datatype etype,
                     MPI_Datatype filetype, const char *name, mpiio_view *out) {
    const int which = representation_of(name);
    if (which < 0)
        return mpiio_complain(MPI_ERR_UNSUPPORTED_DATAREP, "unknown data representation '%.100s'",
                              name ? name : "");
    int code = check_types(f, etype, filetype);
    if (code != MPI_SUCCESS) return code;
    mpiio_view v = {.displacement = displacement,
                    .etype = MPI_DATATYPE_NULL,
                    .filetype = MPI_DATATYPE_NULL,
                    .tile = MPI_DATATYPE_NULL,
                    .external = which == EXTERNAL};
    snprintf(v.name, sizeof v.name, "%s", name);
    code = view_fill(&v, etype, filetype, !(f->amode & MPI_MODE_RDONLY));
    if (code == MPI_SUCCESS)
        *out = v;
    else
        mpiio_view_drop(&v);
    return code;
}

int mpiio_view_init(mpiio_view *v) {
    *v = (mpiio_view){
        .etype = MPI_BYTE, .filetype = MPI_BYTE, .tile = MPI_DATATYPE_NULL, .name = "native"};
    return view_fill(v, MPI_BYTE, MPI_BYTE, 0);
}

/* ---- agreement */

/* Agree on the errors of all ranks, and check that the extent of the etype and the representation
 * are the same on all ranks, as MPI requires.  *hints: on return, whether some rank has new
 * hints. */
static int view_agree(const mpiio_file *f, int local_class, const mpiio_view *v, int *hints) {
    MPI_Count lb = 0, extent = 0;
    int which = 0;
    if (local_class == MPI_SUCCESS) {
        PMPI_Type_get_extent_x(v->etype, &lb, &extent);
        which = representation_of(v->name);
    }
    enum { CLASS, EXTENT, EXTENT_, WHICH, WHICH_, HINTS, NUMBERS };
    int64_t n[NUMBERS] = {[CLASS] = local_class, [EXTENT] = extent, [EXTENT_] = -extent,
                          [WHICH] = which,       [WHICH_] = -which, [HINTS] = *hints};
    const int code = mpiio_agree(f->ranks, NUMBERS, n);
    if (code != MPI_SUCCESS)
        return mpiio_complain(MPI_ERR_OTHER, "the ranks could not exchange their views");
    /* the class that all ranks return, with the message of this rank */
    if (local_class == n[CLASS] && local_class != MPI_SUCCESS) return local_class;
    if (n[CLASS] != MPI_SUCCESS)
        return mpiio_complain((int)n[CLASS], "another rank cannot set its view of '%s'", f->path);
    if (n[EXTENT] != -n[EXTENT_] || n[WHICH] != -n[WHICH_])
        return mpiio_complain(MPI_ERR_NOT_SAME,
                              "ranks disagree on the extent of the etype or on the representation");
    *hints = (int)n[HINTS];
    return MPI_SUCCESS;
}

int mpiio_set_view(mpiio_file *f, MPI_Offset displacement, MPI_Datatype etype,
                   MPI_Datatype filetype, const char *name, MPI_Info info) {
    mpiio_view v = {.etype = MPI_DATATYPE_NULL};
    tutti_options opt;
    int hints = mpiio_hints_apply(f, info, &opt);
    int code = check_displacement(f, displacement);
    if (f->amode & MPI_MODE_SEQUENTIAL) {
        /* the displacement is the position of the shared pointer, after all ranks have entered the
         * call */
        int64_t here = 0;
        MPI_Offset at = 0;
        int found = mpiio_agree(f->ranks, 1, &here);
        if (found == MPI_SUCCESS) found = mpiio_shared_add(f, 0, &at);
        if (found == MPI_SUCCESS) found = mpiio_byte_offset(f, at, &displacement);
        if (code == MPI_SUCCESS) code = found;
    }
    if (code == MPI_SUCCESS) code = view_make(f, displacement, etype, filetype, name, &v);
    const int agreed = view_agree(f, code, &v, &hints);
    if (agreed == MPI_SUCCESS) {
        if (hints) mpiio_hints_change(f, &opt);
        mpiio_hints_keep(f, info);
        mpiio_view_drop(&f->view);
        f->view = v;
        __atomic_store_n(&f->position, 0, __ATOMIC_RELAXED);
        mpiio_shared_set(f, 0);
    } else if (code == MPI_SUCCESS) {
        mpiio_view_drop(&v);
    }
    return mpiio_fail(f, agreed);
}

int mpiio_get_view(mpiio_file *f, MPI_Offset *displacement, MPI_Datatype *etype,
                   MPI_Datatype *filetype, char *name) {
    MPI_Datatype e, t;
    if (!displacement || !etype || !filetype || !name)
        return mpiio_fail(f, mpiio_complain(MPI_ERR_ARG, "argument %s is NULL",
                                            !displacement ? "disp"
                                            : !etype      ? "etype"
                                            : filetype    ? "datarep"
                                                          : "filetype"));
    int code = type_keep(f->view.etype, &e);
    if (code == MPI_SUCCESS) code = type_keep(f->view.filetype, &t);
    if (code == MPI_SUCCESS) {
        *displacement = f->view.displacement;
        *etype = e;
        *filetype = t;
        memcpy(name, f->view.name, strlen(f->view.name) + 1);
    }
    return mpiio_fail(f, code);
}

int mpiio_get_type_extent(mpiio_file *f, MPI_Datatype type, MPI_Count *extent) {
    MPI_Datatype tile = type;
    MPI_Count lb = 0;
    int code = MPI_SUCCESS;
    if (type == MPI_DATATYPE_NULL)
        code = mpiio_complain(MPI_ERR_TYPE, "the datatype is MPI_DATATYPE_NULL");
    else if (!extent)
        code = mpiio_complain(MPI_ERR_ARG, "argument extent is NULL");
    if (code == MPI_SUCCESS && f->view.external) code = mpiio_external_type(type, &tile);
    if (code == MPI_SUCCESS) code = PMPI_Type_get_extent_x(tile, &lb, extent);
    if (tile != type) PMPI_Type_free(&tile);
    return mpiio_fail(f, code);
}
