/* Written by scripts/gen_fortran.py from the public headers; do not edit.
 *
 * fortran: the entries of calls that have the same shape in both languages.
 * SPDX-License-Identifier: BSD-3-Clause */
/* clang-format off */
#include "layer.h"

#include <stdlib.h>

/* The constants of the module. */
_Static_assert(TUTTI_OK == 0, "TUTTI_OK");
_Static_assert(TUTTI_ERR_ARG == 1, "TUTTI_ERR_ARG");
_Static_assert(TUTTI_ERR_MODE == 2, "TUTTI_ERR_MODE");
_Static_assert(TUTTI_ERR_NOMEM == 3, "TUTTI_ERR_NOMEM");
_Static_assert(TUTTI_ERR_UNSUPPORTED == 4, "TUTTI_ERR_UNSUPPORTED");
_Static_assert(TUTTI_ERR_OVERFLOW == 5, "TUTTI_ERR_OVERFLOW");
_Static_assert(TUTTI_ERR_NOT_FOUND == 6, "TUTTI_ERR_NOT_FOUND");
_Static_assert(TUTTI_ERR_EXISTS == 7, "TUTTI_ERR_EXISTS");
_Static_assert(TUTTI_ERR_PERMISSION == 8, "TUTTI_ERR_PERMISSION");
_Static_assert(TUTTI_ERR_IS_DIRECTORY == 9, "TUTTI_ERR_IS_DIRECTORY");
_Static_assert(TUTTI_ERR_READ_ONLY == 10, "TUTTI_ERR_READ_ONLY");
_Static_assert(TUTTI_ERR_STATE == 11, "TUTTI_ERR_STATE");
_Static_assert(TUTTI_ERR_FORMAT == 12, "TUTTI_ERR_FORMAT");
_Static_assert(TUTTI_ERR_OVERLAP == 13, "TUTTI_ERR_OVERLAP");
_Static_assert(TUTTI_ERR_OPTION == 14, "TUTTI_ERR_OPTION");
_Static_assert(TUTTI_ERR_MISMATCH == 15, "TUTTI_ERR_MISMATCH");
_Static_assert(TUTTI_ERR_OPEN == 16, "TUTTI_ERR_OPEN");
_Static_assert(TUTTI_ERR_IO == -1, "TUTTI_ERR_IO");
_Static_assert(TUTTI_ERR_NO_SPACE == -2, "TUTTI_ERR_NO_SPACE");
_Static_assert(TUTTI_ERR_QUOTA == -3, "TUTTI_ERR_QUOTA");
_Static_assert(TUTTI_ERR_TOO_BIG == -4, "TUTTI_ERR_TOO_BIG");
_Static_assert(TUTTI_ERR_TRUNCATED == -5, "TUTTI_ERR_TRUNCATED");
_Static_assert(TUTTI_ERR_MPI == -6, "TUTTI_ERR_MPI");
_Static_assert(TUTTI_ERR_CANCELLED == -7, "TUTTI_ERR_CANCELLED");
_Static_assert(TUTTI_ERR_VALUE == -8, "TUTTI_ERR_VALUE");
_Static_assert(TUTTI_ROW_MAJOR == 0, "TUTTI_ROW_MAJOR");
_Static_assert(TUTTI_COL_MAJOR == 1, "TUTTI_COL_MAJOR");
_Static_assert(TUTTI_METHOD_AUTO == 0, "TUTTI_METHOD_AUTO");
_Static_assert(TUTTI_METHOD_INDEPENDENT == 1, "TUTTI_METHOD_INDEPENDENT");
_Static_assert(TUTTI_METHOD_LIST == 2, "TUTTI_METHOD_LIST");
_Static_assert(TUTTI_METHOD_SIEVE == 3, "TUTTI_METHOD_SIEVE");
_Static_assert(TUTTI_METHOD_ROOT == 4, "TUTTI_METHOD_ROOT");
_Static_assert(TUTTI_METHOD_TWO_PHASE == 5, "TUTTI_METHOD_TWO_PHASE");
_Static_assert(TUTTI_EXCHANGE_AUTO == 0, "TUTTI_EXCHANGE_AUTO");
_Static_assert(TUTTI_EXCHANGE_SHM == 1, "TUTTI_EXCHANGE_SHM");
_Static_assert(TUTTI_EXCHANGE_TWO_SIDED == 2, "TUTTI_EXCHANGE_TWO_SIDED");
_Static_assert(TUTTI_EXCHANGE_FENCE == 3, "TUTTI_EXCHANGE_FENCE");
_Static_assert(TUTTI_EXCHANGE_LOCK == 4, "TUTTI_EXCHANGE_LOCK");
_Static_assert(TUTTI_PIPELINE_AUTO == 0, "TUTTI_PIPELINE_AUTO");
_Static_assert(TUTTI_PIPELINE_NONE == 1, "TUTTI_PIPELINE_NONE");
_Static_assert(TUTTI_PIPELINE_COMM == 2, "TUTTI_PIPELINE_COMM");
_Static_assert(TUTTI_PIPELINE_WRITE == 3, "TUTTI_PIPELINE_WRITE");
_Static_assert(TUTTI_PIPELINE_WRITE_COMM == 4, "TUTTI_PIPELINE_WRITE_COMM");
_Static_assert(TUTTI_PIPELINE_WRITE_COMM_2 == 5, "TUTTI_PIPELINE_WRITE_COMM_2");
_Static_assert(TUTTI_BACKGROUND_AUTO == 0, "TUTTI_BACKGROUND_AUTO");
_Static_assert(TUTTI_BACKGROUND_NONE == 1, "TUTTI_BACKGROUND_NONE");
_Static_assert(TUTTI_BACKGROUND_ALL == 2, "TUTTI_BACKGROUND_ALL");
_Static_assert(TUTTI_BACKGROUND_IO_ONLY == 3, "TUTTI_BACKGROUND_IO_ONLY");
_Static_assert(TUTTI_DOMAINS_AUTO == 0, "TUTTI_DOMAINS_AUTO");
_Static_assert(TUTTI_DOMAINS_EVEN == 1, "TUTTI_DOMAINS_EVEN");
_Static_assert(TUTTI_DOMAINS_BALANCED == 2, "TUTTI_DOMAINS_BALANCED");
_Static_assert(TUTTI_DOMAINS_CYCLIC == 3, "TUTTI_DOMAINS_CYCLIC");
_Static_assert(TUTTI_DOMAINS_ARRAY == 4, "TUTTI_DOMAINS_ARRAY");
_Static_assert(TUTTI_STORE_AUTO == 0, "TUTTI_STORE_AUTO");
_Static_assert(TUTTI_STORE_POSIX == 1, "TUTTI_STORE_POSIX");
_Static_assert(TUTTI_STORE_URING == 2, "TUTTI_STORE_URING");
_Static_assert(TUTTI_STORE_THREADS == 3, "TUTTI_STORE_THREADS");
_Static_assert(TUTTI_STORE_AIO == 4, "TUTTI_STORE_AIO");
_Static_assert(TUTTI_STORE_MEM == 5, "TUTTI_STORE_MEM");
_Static_assert(TUTTI_STORE_NULL == 6, "TUTTI_STORE_NULL");
_Static_assert(TUTTI_BYTES == 0, "TUTTI_BYTES");
_Static_assert(TUTTI_INT8 == 1, "TUTTI_INT8");
_Static_assert(TUTTI_INT16 == 2, "TUTTI_INT16");
_Static_assert(TUTTI_INT32 == 3, "TUTTI_INT32");
_Static_assert(TUTTI_INT64 == 4, "TUTTI_INT64");
_Static_assert(TUTTI_UINT8 == 5, "TUTTI_UINT8");
_Static_assert(TUTTI_UINT16 == 6, "TUTTI_UINT16");
_Static_assert(TUTTI_UINT32 == 7, "TUTTI_UINT32");
_Static_assert(TUTTI_UINT64 == 8, "TUTTI_UINT64");
_Static_assert(TUTTI_FLOAT32 == 9, "TUTTI_FLOAT32");
_Static_assert(TUTTI_FLOAT64 == 10, "TUTTI_FLOAT64");
_Static_assert(TUTTI_COMPLEX64 == 11, "TUTTI_COMPLEX64");
_Static_assert(TUTTI_COMPLEX128 == 12, "TUTTI_COMPLEX128");
_Static_assert(TUTTI_FLOAT16 == 13, "TUTTI_FLOAT16");
_Static_assert(TUTTI_NATIVE_ENDIAN == 0, "TUTTI_NATIVE_ENDIAN");
_Static_assert(TUTTI_LITTLE_ENDIAN == 1, "TUTTI_LITTLE_ENDIAN");
_Static_assert(TUTTI_BIG_ENDIAN == 2, "TUTTI_BIG_ENDIAN");
_Static_assert(TUTTI_DIST_NONE == 0, "TUTTI_DIST_NONE");
_Static_assert(TUTTI_DIST_BLOCK == 1, "TUTTI_DIST_BLOCK");
_Static_assert(TUTTI_DIST_CYCLIC == 2, "TUTTI_DIST_CYCLIC");
_Static_assert(TUTTI_DIST_BLOCK_CYCLIC == 3, "TUTTI_DIST_BLOCK_CYCLIC");
_Static_assert(TUTTI_DIST_RAGGED == 4, "TUTTI_DIST_RAGGED");
_Static_assert(TUTTI_REPLICAS_IDG2 == 0, "TUTTI_REPLICAS_IDG2");
_Static_assert(TUTTI_REPLICAS_IDG == 1, "TUTTI_REPLICAS_IDG");
_Static_assert(TUTTI_REPLICAS_OWN == 2, "TUTTI_REPLICAS_OWN");
_Static_assert(TUTTI_REPLICAS_FIRST == 3, "TUTTI_REPLICAS_FIRST");
_Static_assert(TUTTI_REPLICAS_RANDOM == 4, "TUTTI_REPLICAS_RANDOM");
_Static_assert(TUTTI_DECOMPOSITION_UNSET == 0, "TUTTI_DECOMPOSITION_UNSET");
_Static_assert(TUTTI_BY_INDEX == 1, "TUTTI_BY_INDEX");
_Static_assert(TUTTI_BY_VALUE == 2, "TUTTI_BY_VALUE");
_Static_assert(TUTTI_BY_BOTH == 3, "TUTTI_BY_BOTH");
_Static_assert(TUTTI_BY_SLICE == 4, "TUTTI_BY_SLICE");
_Static_assert(TUTTI_AS_THEY_LIE == 5, "TUTTI_AS_THEY_LIE");
_Static_assert(TUTTI_DURABLE == 0, "TUTTI_DURABLE");
_Static_assert(TUTTI_VISIBLE == 1, "TUTTI_VISIBLE");
_Static_assert(TUTTI_CONTAINER_NATIVE == 0, "TUTTI_CONTAINER_NATIVE");
_Static_assert(TUTTI_CONTAINER_NETCDF == 1, "TUTTI_CONTAINER_NETCDF");
_Static_assert(TUTTI_SCALAR == 0, "TUTTI_SCALAR");
_Static_assert(TUTTI_VECTOR == 1, "TUTTI_VECTOR");
_Static_assert(TUTTI_SYM_TENSOR == 2, "TUTTI_SYM_TENSOR");
_Static_assert(TUTTI_TENSOR == 3, "TUTTI_TENSOR");
_Static_assert(TUTTI_VALUES == 4, "TUTTI_VALUES");
_Static_assert(TUTTI_GLOBAL == 0, "TUTTI_GLOBAL");
_Static_assert(TUTTI_RANKED == 1, "TUTTI_RANKED");
_Static_assert(TUTTI_TOPOLOGY == 0, "TUTTI_TOPOLOGY");
_Static_assert(TUTTI_STATE == 1, "TUTTI_STATE");
_Static_assert(TUTTI_EXODUS_GLOBAL == 0, "TUTTI_EXODUS_GLOBAL");
_Static_assert(TUTTI_EXODUS_NODAL == 1, "TUTTI_EXODUS_NODAL");
_Static_assert(TUTTI_EXODUS_ELEMENT_BLOCK == 2, "TUTTI_EXODUS_ELEMENT_BLOCK");
_Static_assert(TUTTI_EXODUS_EDGE_BLOCK == 3, "TUTTI_EXODUS_EDGE_BLOCK");
_Static_assert(TUTTI_EXODUS_FACE_BLOCK == 4, "TUTTI_EXODUS_FACE_BLOCK");
_Static_assert(TUTTI_EXODUS_NODE_SET == 5, "TUTTI_EXODUS_NODE_SET");
_Static_assert(TUTTI_EXODUS_SIDE_SET == 6, "TUTTI_EXODUS_SIDE_SET");
_Static_assert(TUTTI_EXODUS_ELEMENT_SET == 7, "TUTTI_EXODUS_ELEMENT_SET");
_Static_assert(TUTTI_EXODUS_EDGE_SET == 8, "TUTTI_EXODUS_EDGE_SET");
_Static_assert(TUTTI_EXODUS_FACE_SET == 9, "TUTTI_EXODUS_FACE_SET");
_Static_assert(TUTTI_EXODUS_NODE_MAP == 10, "TUTTI_EXODUS_NODE_MAP");
_Static_assert(TUTTI_EXODUS_ELEMENT_MAP == 11, "TUTTI_EXODUS_ELEMENT_MAP");
_Static_assert(TUTTI_EXODUS_EDGE_MAP == 12, "TUTTI_EXODUS_EDGE_MAP");
_Static_assert(TUTTI_EXODUS_FACE_MAP == 13, "TUTTI_EXODUS_FACE_MAP");
_Static_assert(TUTTI_EXODUS_KINDS == 14, "TUTTI_EXODUS_KINDS");
_Static_assert(TUTTI_EXODUS_BY_ORDER == 0, "TUTTI_EXODUS_BY_ORDER");
_Static_assert(TUTTI_EXODUS_BY_METIS == 1, "TUTTI_EXODUS_BY_METIS");
_Static_assert(TUTTI_EXODUS_BY_CURVE == 2, "TUTTI_EXODUS_BY_CURVE");
_Static_assert(TUTTI_EXODUS_BY_LIST == 3, "TUTTI_EXODUS_BY_LIST");
_Static_assert(TUTTI_EXODUS_ON_ROOT == 4, "TUTTI_EXODUS_ON_ROOT");
_Static_assert(TUTTI_EXODUS_COORDINATES == 0, "TUTTI_EXODUS_COORDINATES");
_Static_assert(TUTTI_EXODUS_CONNECTIVITY == 1, "TUTTI_EXODUS_CONNECTIVITY");
_Static_assert(TUTTI_EXODUS_EDGES == 2, "TUTTI_EXODUS_EDGES");
_Static_assert(TUTTI_EXODUS_FACES == 3, "TUTTI_EXODUS_FACES");
_Static_assert(TUTTI_EXODUS_COUNTS == 4, "TUTTI_EXODUS_COUNTS");
_Static_assert(TUTTI_EXODUS_ATTRIBUTES == 5, "TUTTI_EXODUS_ATTRIBUTES");
_Static_assert(TUTTI_EXODUS_MEMBERS == 6, "TUTTI_EXODUS_MEMBERS");
_Static_assert(TUTTI_EXODUS_SIDES == 7, "TUTTI_EXODUS_SIDES");
_Static_assert(TUTTI_EXODUS_FACTORS == 8, "TUTTI_EXODUS_FACTORS");
_Static_assert(TUTTI_EXODUS_IDS == 9, "TUTTI_EXODUS_IDS");
_Static_assert(TUTTI_EXODUS_MAP == 10, "TUTTI_EXODUS_MAP");
_Static_assert(TUTTI_EXODUS_ORDER == 11, "TUTTI_EXODUS_ORDER");
_Static_assert(TUTTI_MESH_POINT == 0, "TUTTI_MESH_POINT");
_Static_assert(TUTTI_MESH_LINE == 1, "TUTTI_MESH_LINE");
_Static_assert(TUTTI_MESH_TRIANGLE == 2, "TUTTI_MESH_TRIANGLE");
_Static_assert(TUTTI_MESH_QUAD == 3, "TUTTI_MESH_QUAD");
_Static_assert(TUTTI_MESH_TET == 4, "TUTTI_MESH_TET");
_Static_assert(TUTTI_MESH_HEX == 5, "TUTTI_MESH_HEX");
_Static_assert(TUTTI_MESH_PRISM == 6, "TUTTI_MESH_PRISM");
_Static_assert(TUTTI_MESH_PYRAMID == 7, "TUTTI_MESH_PYRAMID");
_Static_assert(TUTTI_MESH_TYPES == 8, "TUTTI_MESH_TYPES");
_Static_assert(TUTTI_MESH_MOST_NODES == 8, "TUTTI_MESH_MOST_NODES");
_Static_assert(TUTTI_MESH_NATIVE == 0, "TUTTI_MESH_NATIVE");
_Static_assert(TUTTI_MESH_GMSH_41 == 1, "TUTTI_MESH_GMSH_41");
_Static_assert(TUTTI_MESH_GMSH_41_BINARY == 2, "TUTTI_MESH_GMSH_41_BINARY");
_Static_assert(TUTTI_MESH_GMSH_22 == 3, "TUTTI_MESH_GMSH_22");
_Static_assert(TUTTI_MESH_GMSH_22_BINARY == 4, "TUTTI_MESH_GMSH_22_BINARY");
_Static_assert(TUTTI_MESH_FILE == 0, "TUTTI_MESH_FILE");
_Static_assert(TUTTI_MESH_CURVE == 1, "TUTTI_MESH_CURVE");
_Static_assert(TUTTI_MESH_RCM == 2, "TUTTI_MESH_RCM");
_Static_assert(TUTTI_MESH_METIS == 0, "TUTTI_MESH_METIS");
_Static_assert(TUTTI_MESH_BY_CURVE == 1, "TUTTI_MESH_BY_CURVE");
_Static_assert(TUTTI_MESH_BY_RCB == 2, "TUTTI_MESH_BY_RCB");
_Static_assert(TUTTI_APPEND == 32, "TUTTI_APPEND");
_Static_assert(TUTTI_CREATE == 4, "TUTTI_CREATE");
_Static_assert(TUTTI_EXCLUSIVE == 8, "TUTTI_EXCLUSIVE");
_Static_assert(TUTTI_MAX_DIMS == 16, "TUTTI_MAX_DIMS");
_Static_assert(TUTTI_READ == 1, "TUTTI_READ");
_Static_assert(TUTTI_TRUNCATE == 16, "TUTTI_TRUNCATE");
_Static_assert(TUTTI_VERSION_MAJOR == 0, "TUTTI_VERSION_MAJOR");
_Static_assert(TUTTI_VERSION_MINOR == 1, "TUTTI_VERSION_MINOR");
_Static_assert(TUTTI_VERSION_PATCH == 0, "TUTTI_VERSION_PATCH");
_Static_assert(TUTTI_WRITE == 2, "TUTTI_WRITE");

/* ---- tutti/types.h */

TUTTI_API int tutti_f_version(void) {
    const int got = tutti_version();
    return got;
}

TUTTI_API const char *tutti_f_version_string(void) {
    const char *const got = tutti_version_string();
    return got;
}


/* ---- tutti/error.h */

TUTTI_API const char *tutti_f_strerror(tutti_err code) {
    const char *const got = tutti_strerror(code);
    return got;
}

TUTTI_API const char *tutti_f_error_name(tutti_err code) {
    const char *const got = tutti_error_name(code);
    return got;
}

TUTTI_API tutti_error_info tutti_f_last_error(void) {
    const tutti_error_info *const got = tutti_last_error();
    return got ? *got : (tutti_error_info){0};
}

TUTTI_API const char *tutti_f_last_message(void) {
    const char *const got = tutti_last_message();
    return got;
}

TUTTI_API void tutti_f_refuse(tutti_err code, int detail, const CFI_cdesc_t *text) {
    char *c_text = tutti__f_text(text);
    tutti_refuse(code, detail, c_text);
    free(c_text);
}


/* ---- tutti/access.h */

TUTTI_API void tutti_f_access_contiguous(tutti_off offset, tutti_off bytes, tutti__f_handle *out,
                                         int *ierr) {
    tutti_access *c_out = NULL;
    *out = (tutti__f_handle){0};
    const tutti_err err = tutti_access_contiguous(offset, bytes, &c_out);
    out->p = c_out;
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_access_section(const tutti_section *file, tutti__f_handle *out, int *ierr,
                                      const tutti_section *memory) {
    tutti_access *c_out = NULL;
    *out = (tutti__f_handle){0};
    const tutti_err err = tutti_access_section(file, memory, &c_out);
    out->p = c_out;
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_access_vector(tutti_off offset, tutti_count count, tutti_off block,
                                     tutti_off stride, tutti__f_handle *out, int *ierr) {
    tutti_access *c_out = NULL;
    *out = (tutti__f_handle){0};
    const tutti_err err = tutti_access_vector(offset, count, block, stride, &c_out);
    out->p = c_out;
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_access_runs(const CFI_cdesc_t *offsets, const CFI_cdesc_t *lengths,
                                   tutti__f_handle *out, int *ierr) {
    const int fits = tutti__f_fits(lengths, tutti__f_length(offsets));
    tutti_access *c_out = NULL;
    *out = (tutti__f_handle){0};
    const tutti_err err = tutti_access_runs((tutti_count)tutti__f_length(offsets),
                                            fits ? tutti__f_list(offsets) : NULL,
                                            tutti__f_list(lengths), &c_out);
    out->p = c_out;
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_access_pieces(const CFI_cdesc_t *file_offsets, const CFI_cdesc_t *lengths,
                                     tutti__f_handle *out, int *ierr,
                                     const CFI_cdesc_t *memory_offsets) {
    const int fits = tutti__f_fits(memory_offsets, tutti__f_length(file_offsets))
        && tutti__f_fits(lengths, tutti__f_length(file_offsets));
    tutti_access *c_out = NULL;
    *out = (tutti__f_handle){0};
    const tutti_err err = tutti_access_pieces((tutti_count)tutti__f_length(file_offsets),
                                              fits ? tutti__f_list(file_offsets) : NULL,
                                              tutti__f_list(memory_offsets), tutti__f_list(lengths),
                                              &c_out);
    out->p = c_out;
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_access_indices(tutti_off offset, tutti_off item_size,
                                      const CFI_cdesc_t *index, tutti__f_handle *out, int *ierr) {
    tutti_access *c_out = NULL;
    *out = (tutti__f_handle){0};
    const tutti_err err = tutti_access_indices(offset, item_size,
                                               (tutti_count)tutti__f_length(index),
                                               tutti__f_list(index), &c_out);
    out->p = c_out;
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_access_concat(const CFI_cdesc_t *parts, tutti__f_handle *out, int *ierr,
                                     const CFI_cdesc_t *memory_offsets) {
    const int fits = tutti__f_fits(memory_offsets, tutti__f_length(parts));
    tutti_access *c_out = NULL;
    *out = (tutti__f_handle){0};
    const tutti_err err = tutti_access_concat((int)tutti__f_length(parts),
                                              (const tutti_access *const *)(fits ? tutti__f_list(parts) : NULL),
                                              tutti__f_list(memory_offsets), &c_out);
    out->p = c_out;
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_access_tile(const tutti__f_handle *a, tutti_count count,
                                   tutti_off file_stride, tutti_off memory_stride,
                                   tutti__f_handle *out, int *ierr) {
    tutti_access *c_out = NULL;
    *out = (tutti__f_handle){0};
    const tutti_err err = tutti_access_tile(a->p, count, file_stride, memory_stride, &c_out);
    out->p = c_out;
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_access_join(const tutti__f_handle *file, const tutti__f_handle *memory,
                                   tutti__f_handle *out, int *ierr) {
    tutti_access *c_out = NULL;
    *out = (tutti__f_handle){0};
    const tutti_err err = tutti_access_join(file->p, memory->p, &c_out);
    out->p = c_out;
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_access_clip(const tutti__f_handle *a, tutti_off lo, tutti_off hi,
                                   tutti__f_handle *out, int *ierr) {
    tutti_access *c_out = NULL;
    *out = (tutti__f_handle){0};
    const tutti_err err = tutti_access_clip(a->p, lo, hi, &c_out);
    out->p = c_out;
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_access_shift(const tutti__f_handle *a, tutti_off file, tutti_off memory,
                                    tutti__f_handle *out, int *ierr) {
    tutti_access *c_out = NULL;
    *out = (tutti__f_handle){0};
    const tutti_err err = tutti_access_shift(a->p, file, memory, &c_out);
    out->p = c_out;
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_access_copy(const tutti__f_handle *a, tutti__f_handle *out, int *ierr) {
    tutti_access *c_out = NULL;
    *out = (tutti__f_handle){0};
    const tutti_err err = tutti_access_copy(a->p, &c_out);
    out->p = c_out;
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_access_free(tutti__f_handle *a) {
    tutti_access *c_a = a->p;
    tutti_access_free(&c_a);
    a->p = c_a;
}

TUTTI_API tutti_off tutti_f_access_bytes(const tutti__f_handle *a) {
    const tutti_off got = tutti_access_bytes(a->p);
    return got;
}

TUTTI_API tutti_off tutti_f_access_repeated(const tutti__f_handle *a) {
    const tutti_off got = tutti_access_repeated(a->p);
    return got;
}

TUTTI_API void tutti_f_access_bounds(const tutti__f_handle *a, tutti_off *lo, tutti_off *hi) {
    tutti_access_bounds(a->p, lo, hi);
}

TUTTI_API void tutti_f_access_memory_bounds(const tutti__f_handle *a, tutti_off *lo,
                                            tutti_off *hi) {
    tutti_access_memory_bounds(a->p, lo, hi);
}

TUTTI_API tutti_count tutti_f_access_runs_count(const tutti__f_handle *a) {
    const tutti_count got = tutti_access_runs_count(a->p);
    return got;
}

TUTTI_API tutti_off tutti_f_access_bytes_in(const tutti__f_handle *a, tutti_off lo, tutti_off hi) {
    const tutti_off got = tutti_access_bytes_in(a->p, lo, hi);
    return got;
}

TUTTI_API size_t tutti_f_access_size(const tutti__f_handle *a) {
    const size_t got = tutti_access_size(a->p);
    return got;
}

TUTTI_API uint64_t tutti_f_access_hash(const tutti__f_handle *a) {
    const uint64_t got = tutti_access_hash(a->p);
    return got;
}

TUTTI_API int tutti_f_access_equal(const tutti__f_handle *a, const tutti__f_handle *b) {
    const int got = tutti_access_equal(a->p, b->p);
    return got;
}

TUTTI_API void tutti_f_access_iter_start(const tutti__f_handle *a, tutti_off stream,
                                         tutti__f_handle *out, int *ierr) {
    tutti_access_iter *c_out = NULL;
    *out = (tutti__f_handle){0};
    const tutti_err err = tutti_access_iter_start(a->p, stream, &c_out);
    out->p = c_out;
    tutti__f_end(err, ierr);
}

TUTTI_API int tutti_f_access_iter_next(const tutti__f_handle *it, tutti_piece *piece) {
    const int got = tutti_access_iter_next(it->p, piece);
    return got;
}

TUTTI_API void tutti_f_access_iter_free(tutti__f_handle *it) {
    tutti_access_iter *c_it = it->p;
    tutti_access_iter_free(&c_it);
    it->p = c_it;
}

TUTTI_API void tutti_f_access_seek(const tutti__f_handle *a, tutti_off p, tutti_piece *piece,
                                   int *ierr) {
    const tutti_err err = tutti_access_seek(a->p, p, piece);
    tutti__f_end(err, ierr);
}

TUTTI_API size_t tutti_f_access_serialise(const tutti__f_handle *a, const CFI_cdesc_t *buf) {
    const tutti__f_array v_buf = tutti__f_array_of(buf);
    void *c_buf = tutti__f_plain(&v_buf, 0, 0);
    const size_t got = tutti_access_serialise(a->p,
                                              c_buf, c_buf && v_buf.bytes > 0 ? (size_t)v_buf.bytes : 0);
    return got;
}

TUTTI_API void tutti_f_access_parse(const CFI_cdesc_t *buf, tutti__f_handle *out, int *ierr) {
    const tutti__f_array v_buf = tutti__f_array_of(buf);
    void *c_buf = tutti__f_plain(&v_buf, 0, 0);
    tutti_access *c_out = NULL;
    *out = (tutti__f_handle){0};
    const tutti_err err = tutti_access_parse(c_buf, c_buf && v_buf.bytes > 0 ? (size_t)v_buf.bytes : 0,
                                             &c_out);
    out->p = c_out;
    tutti__f_end(err, ierr);
}

TUTTI_API int tutti_f_access_describe(const tutti__f_handle *a, const CFI_cdesc_t *buf) {
    char c_buf[4096] = "";
    const int got = tutti_access_describe(a->p, c_buf, sizeof c_buf);
    tutti__f_put_text(buf, c_buf);
    return got;
}


/* ---- tutti/options.h */

TUTTI_API void tutti_f_options_init(tutti_options *opt, int *ierr) {
    const tutti_err err = tutti_options_init(opt);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_options_defaults(tutti_options *opt) {
    tutti_options_defaults(opt);
}

TUTTI_API void tutti_f_options_set(tutti_options *opt, const CFI_cdesc_t *key,
                                   const CFI_cdesc_t *value, int *ierr) {
    char *c_key = tutti__f_text(key);
    char *c_value = tutti__f_text(value);
    const tutti_err err = tutti_options_set(opt, c_key, c_value);
    free(c_key);
    free(c_value);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_options_get(const tutti_options *opt, const CFI_cdesc_t *key,
                                   const CFI_cdesc_t *value, int *ierr) {
    char *c_key = tutti__f_text(key);
    char c_value[4096] = "";
    const tutti_err err = tutti_options_get(opt, c_key, c_value, sizeof c_value);
    free(c_key);
    tutti__f_put_text(value, c_value);
    tutti__f_end(err, ierr);
}

TUTTI_API tutti_option_info tutti_f_options_row(int i) {
    const tutti_option_info *const got = tutti_options_row(i);
    return got ? *got : (tutti_option_info){0};
}


/* ---- tutti/file.h */

TUTTI_API void tutti_f_file_open(const int *comm, const CFI_cdesc_t *path, int mode,
                                 tutti__f_handle *f_out, int *ierr, const tutti_options *opt) {
    char *c_path = tutti__f_text(path);
    tutti_file *c_f_out = NULL;
    *f_out = (tutti__f_handle){0};
    const tutti_err err = tutti_file_open(tutti_comm_f2c(*comm), c_path, mode, opt, &c_f_out);
    free(c_path);
    f_out->p = c_f_out;
    tutti__f_end(err, ierr);
}
TUTTI__F_TYPED(tutti_f_file_open)

TUTTI_API void tutti_f_file_open_with(const int *comm, const CFI_cdesc_t *path, int mode,
                                      int permissions, tutti__f_handle *f_out, int *ierr,
                                      const tutti_options *opt) {
    char *c_path = tutti__f_text(path);
    tutti_file *c_f_out = NULL;
    *f_out = (tutti__f_handle){0};
    const tutti_err err = tutti_file_open_with(tutti_comm_f2c(*comm), c_path, mode, permissions,
                                               opt, &c_f_out);
    free(c_path);
    f_out->p = c_f_out;
    tutti__f_end(err, ierr);
}
TUTTI__F_TYPED(tutti_f_file_open_with)

TUTTI_API void tutti_f_file_close(tutti__f_handle *f, int *ierr) {
    tutti_file *c_f = f->p;
    const tutti_err err = tutti_file_close(&c_f);
    f->p = c_f;
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_file_delete(const CFI_cdesc_t *path, int *ierr, const tutti_options *opt) {
    char *c_path = tutti__f_text(path);
    const tutti_err err = tutti_file_delete(c_path, opt);
    free(c_path);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_file_size(const tutti__f_handle *f, tutti_off *size_out, int *ierr) {
    const tutti_err err = tutti_file_size(f->p, size_out);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_file_size_independent(const tutti__f_handle *f, tutti_off *size_out,
                                             int *ierr) {
    const tutti_err err = tutti_file_size_independent(f->p, size_out);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_file_resize(const tutti__f_handle *f, tutti_off size, int *ierr) {
    const tutti_err err = tutti_file_resize(f->p, size);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_file_preallocate(const tutti__f_handle *f, tutti_off size, int *ierr) {
    const tutti_err err = tutti_file_preallocate(f->p, size);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_file_sync(const tutti__f_handle *f, int *ierr) {
    const tutti_err err = tutti_file_sync(f->p);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_file_atomic(const tutti__f_handle *f, int on, int *ierr) {
    const tutti_err err = tutti_file_atomic(f->p, on);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_file_options(const tutti__f_handle *f, tutti_options *opt_out, int *ierr) {
    *opt_out = (tutti_options){0};
    const tutti_err err = tutti_file_options(f->p, opt_out);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_file_change(const tutti__f_handle *f, const tutti_options *opt, int *ierr) {
    const tutti_err err = tutti_file_change(f->p, opt);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_file_write(const tutti__f_handle *f, const tutti__f_handle *a,
                                  const CFI_cdesc_t *buf, int *ierr, tutti_off *count_out) {
    tutti__f_memory m = tutti__f_memory_begin(a->p, buf);
    const tutti_err err = tutti_file_write(f->p, m.access, m.base, count_out);
    tutti__f_memory_end(&m);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_file_read(const tutti__f_handle *f, const tutti__f_handle *a,
                                 const CFI_cdesc_t *buf, int *ierr, tutti_off *count_out) {
    tutti__f_memory m = tutti__f_memory_begin(a->p, buf);
    const tutti_err err = tutti_file_read(f->p, m.access, m.base, count_out);
    tutti__f_memory_end(&m);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_file_write_independent(const tutti__f_handle *f, const tutti__f_handle *a,
                                              const CFI_cdesc_t *buf, int *ierr,
                                              tutti_off *count_out) {
    tutti__f_memory m = tutti__f_memory_begin(a->p, buf);
    const tutti_err err = tutti_file_write_independent(f->p, m.access, m.base, count_out);
    tutti__f_memory_end(&m);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_file_read_independent(const tutti__f_handle *f, const tutti__f_handle *a,
                                             const CFI_cdesc_t *buf, int *ierr,
                                             tutti_off *count_out) {
    tutti__f_memory m = tutti__f_memory_begin(a->p, buf);
    const tutti_err err = tutti_file_read_independent(f->p, m.access, m.base, count_out);
    tutti__f_memory_end(&m);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_file_write_independent_start(const tutti__f_handle *f,
                                                    const tutti__f_handle *a,
                                                    const CFI_cdesc_t *buf, tutti__f_handle *r_out,
                                                    int *ierr) {
    tutti__f_memory m = tutti__f_memory_begin(a->p, buf);
    tutti_request *c_r_out = NULL;
    *r_out = (tutti__f_handle){0};
    const tutti_err err = tutti_file_write_independent_start(f->p, m.access, m.base, &c_r_out);
    tutti__f_memory_end(&m);
    r_out->p = c_r_out;
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_file_read_independent_start(const tutti__f_handle *f,
                                                   const tutti__f_handle *a, const CFI_cdesc_t *buf,
                                                   tutti__f_handle *r_out, int *ierr) {
    tutti__f_memory m = tutti__f_memory_begin(a->p, buf);
    tutti_request *c_r_out = NULL;
    *r_out = (tutti__f_handle){0};
    const tutti_err err = tutti_file_read_independent_start(f->p, m.access, m.base, &c_r_out);
    tutti__f_memory_end(&m);
    r_out->p = c_r_out;
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_file_write_begin(const tutti__f_handle *f, const tutti__f_handle *a,
                                        const CFI_cdesc_t *buf, int *ierr) {
    tutti__f_memory m = tutti__f_memory_begin(a->p, buf);
    const tutti_err err = tutti_file_write_begin(f->p, m.access, m.base);
    tutti__f_memory_end(&m);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_file_write_end(const tutti__f_handle *f, int *ierr, tutti_off *count_out) {
    const tutti_err err = tutti_file_write_end(f->p, count_out);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_file_read_begin(const tutti__f_handle *f, const tutti__f_handle *a,
                                       const CFI_cdesc_t *buf, int *ierr) {
    tutti__f_memory m = tutti__f_memory_begin(a->p, buf);
    const tutti_err err = tutti_file_read_begin(f->p, m.access, m.base);
    tutti__f_memory_end(&m);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_file_read_end(const tutti__f_handle *f, int *ierr, tutti_off *count_out) {
    const tutti_err err = tutti_file_read_end(f->p, count_out);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_file_write_start(const tutti__f_handle *f, const tutti__f_handle *a,
                                        const CFI_cdesc_t *buf, tutti__f_handle *r_out, int *ierr) {
    tutti__f_memory m = tutti__f_memory_begin(a->p, buf);
    tutti_request *c_r_out = NULL;
    *r_out = (tutti__f_handle){0};
    const tutti_err err = tutti_file_write_start(f->p, m.access, m.base, &c_r_out);
    tutti__f_memory_end(&m);
    r_out->p = c_r_out;
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_file_read_start(const tutti__f_handle *f, const tutti__f_handle *a,
                                       const CFI_cdesc_t *buf, tutti__f_handle *r_out, int *ierr) {
    tutti__f_memory m = tutti__f_memory_begin(a->p, buf);
    tutti_request *c_r_out = NULL;
    *r_out = (tutti__f_handle){0};
    const tutti_err err = tutti_file_read_start(f->p, m.access, m.base, &c_r_out);
    tutti__f_memory_end(&m);
    r_out->p = c_r_out;
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_request_test(tutti__f_handle *r, int *done_out, int *ierr,
                                    tutti_off *count_out) {
    tutti_request *c_r = r->p;
    const tutti_err err = tutti_request_test(&c_r, done_out, count_out);
    r->p = c_r;
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_request_wait(tutti__f_handle *r, int *ierr, tutti_off *count_out) {
    tutti_request *c_r = r->p;
    const tutti_err err = tutti_request_wait(&c_r, count_out);
    r->p = c_r;
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_request_abandon(tutti__f_handle *r) {
    tutti_request *c_r = r->p;
    tutti_request_abandon(&c_r);
    r->p = c_r;
}

TUTTI_API void tutti_f_plan_test(const tutti__f_plan *p, int *done_out, int *ierr,
                                 tutti_off *count_out) {
    const tutti_err err = tutti_plan_test(p->p, done_out, count_out);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_plan_wait(const tutti__f_plan *p, int *ierr, tutti_off *count_out) {
    const tutti_err err = tutti_plan_wait(p->p, count_out);
    tutti__f_end(err, ierr);
}

TUTTI_API const char *tutti_f_plan_explain(const tutti__f_plan *p) {
    const char *const got = tutti_plan_explain(p->p);
    return got;
}

TUTTI_API size_t tutti_f_plan_size(const tutti__f_plan *p) {
    const size_t got = tutti_plan_size(p->p);
    return got;
}

TUTTI_API void tutti_f_plan_free(tutti__f_plan *p) {
    tutti_plan *c_p = p->p;
    tutti_plan_free(&c_p);
    p->p = c_p;
}

TUTTI_API void tutti_f_file_stats(const tutti__f_handle *f, tutti_stats *last_out,
                                  tutti_stats *all_out) {
    if (last_out) *last_out = (tutti_stats){0};
    if (all_out) *all_out = (tutti_stats){0};
    tutti_file_stats(f->p, last_out, all_out);
}

TUTTI_API const char *tutti_f_file_explain(const tutti__f_handle *f) {
    const char *const got = tutti_file_explain(f->p);
    return got;
}

TUTTI_API void tutti_f_file_on_progress(const tutti__f_handle *f, tutti_progress_fn *fn,
                                        void *const *context) {
    tutti_file_on_progress(f->p, fn, context ? *context : NULL);
}

TUTTI_API void tutti_f_options_from_info(tutti_options *opt, const int *info, int *ierr) {
    const tutti_err err = tutti_options_from_info(opt, tutti_info_f2c(*info));
    tutti__f_end(err, ierr);
}
TUTTI__F_TYPED(tutti_f_options_from_info)


/* ---- tutti/numbers.h */

TUTTI_API tutti_off tutti_f_type_size(tutti_type type) {
    const tutti_off got = tutti_type_size(type);
    return got;
}

TUTTI_API const char *tutti_f_type_name(tutti_type type) {
    const char *const got = tutti_type_name(type);
    return got;
}

TUTTI_API void tutti_f_type_parse(const CFI_cdesc_t *name, tutti_type *out, int *ierr) {
    char *c_name = tutti__f_text(name);
    const tutti_err err = tutti_type_parse(c_name, out);
    free(c_name);
    tutti__f_end(err, ierr);
}


/* ---- tutti/array.h */

TUTTI_API tutti_slice tutti_f_slice_all(const CFI_cdesc_t *shape) {
    tutti__f_counts c_shape;
    tutti__f_counts_of(shape, &c_shape);
    const tutti_slice got = tutti_slice_all(c_shape.n, c_shape.list);
    return got;
}

TUTTI_API void tutti_f_slice_fortran(const CFI_cdesc_t *lower, const CFI_cdesc_t *upper,
                                     tutti_slice *out, int *ierr, const CFI_cdesc_t *stride) {
    tutti__f_counts c_lower;
    tutti__f_counts_of(lower, &c_lower);
    tutti__f_counts c_upper;
    tutti__f_counts_of(upper, &c_upper);
    tutti__f_counts c_stride;
    tutti__f_counts_of(stride, &c_stride);
    *out = (tutti_slice){0};
    const int alike = c_upper.n == c_lower.n && (!stride || c_stride.n == c_lower.n);
    const tutti_err err = tutti_slice_fortran(c_lower.n, alike ? c_lower.list : NULL, c_upper.list,
                                              c_stride.list, out);
    tutti__f_end(err, ierr);
}

TUTTI_API tutti_count tutti_f_slice_count(int ndims, const tutti_slice *s,
                                          const CFI_cdesc_t *shape_out) {
    tutti_count c_shape_out[TUTTI_MAX_DIMS] = {0};
    const tutti_count got = tutti_slice_count(ndims, s, c_shape_out);
    tutti__f_put_counts(shape_out, TUTTI_MAX_DIMS, c_shape_out);
    return got;
}

TUTTI_API void tutti_f_distribution_make(const CFI_cdesc_t *shape, const CFI_cdesc_t *dims,
                                         tutti__f_handle *out, int *ierr) {
    tutti__f_counts c_shape;
    tutti__f_counts_of(shape, &c_shape);
    const int fits = tutti__f_fits(dims, c_shape.n);
    tutti_distribution *c_out = NULL;
    *out = (tutti__f_handle){0};
    const tutti_err err = tutti_distribution_make(c_shape.n, c_shape.list,
                                                  fits ? tutti__f_list(dims) : NULL, &c_out);
    out->p = c_out;
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_distribution_free(tutti__f_handle *d) {
    tutti_distribution *c_d = d->p;
    tutti_distribution_free(&c_d);
    d->p = c_d;
}

TUTTI_API int tutti_f_distribution_ranks(const tutti__f_handle *d) {
    const int got = tutti_distribution_ranks(d->p);
    return got;
}

TUTTI_API tutti_count tutti_f_distribution_part(const tutti__f_handle *d, int rank,
                                                const CFI_cdesc_t *shape_out) {
    tutti_count c_shape_out[TUTTI_MAX_DIMS] = {0};
    const tutti_count got = tutti_distribution_part(d->p, rank, c_shape_out);
    tutti__f_put_counts(shape_out, TUTTI_MAX_DIMS, c_shape_out);
    return got;
}

TUTTI_API void tutti_f_distribution_local(const tutti__f_handle *d, const CFI_cdesc_t *global,
                                          int *rank_out, int *ierr, const CFI_cdesc_t *local_out) {
    tutti__f_counts c_global;
    tutti__f_counts_of(global, &c_global);
    tutti_count c_local_out[TUTTI_MAX_DIMS] = {0};
    const tutti_err err = tutti_distribution_local(d->p, c_global.list, rank_out, c_local_out);
    tutti__f_put_counts(local_out, TUTTI_MAX_DIMS, c_local_out);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_distribution_global(const tutti__f_handle *d, int rank,
                                           const CFI_cdesc_t *local, const CFI_cdesc_t *global_out,
                                           int *ierr) {
    tutti__f_counts c_local;
    tutti__f_counts_of(local, &c_local);
    tutti_count c_global_out[TUTTI_MAX_DIMS] = {0};
    const tutti_err err = tutti_distribution_global(d->p, rank, c_local.list, c_global_out);
    tutti__f_put_counts(global_out, TUTTI_MAX_DIMS, c_global_out);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_array_create(const int *comm, const CFI_cdesc_t *path,
                                    const tutti_array_spec *spec, tutti__f_array_handle *a_out,
                                    int *ierr, const tutti_options *opt) {
    char *c_path = tutti__f_text(path);
    tutti_array *c_a_out = NULL;
    *a_out = (tutti__f_array_handle){0};
    const tutti_err err = tutti_array_create(tutti_comm_f2c(*comm), c_path, spec, opt, &c_a_out);
    free(c_path);
    a_out->p = c_a_out;
    if (c_a_out) a_out->rank = tutti__f_rank(tutti_comm_f2c(*comm));
    tutti__f_end(err, ierr);
}
TUTTI__F_TYPED(tutti_f_array_create)

TUTTI_API void tutti_f_array_create_local(const int *comm, const CFI_cdesc_t *path,
                                          const tutti_array_spec *spec, const tutti__f_handle *d,
                                          tutti__f_array_handle *a_out, int *ierr,
                                          const tutti_options *opt) {
    char *c_path = tutti__f_text(path);
    tutti_array *c_a_out = NULL;
    *a_out = (tutti__f_array_handle){0};
    const tutti_err err = tutti_array_create_local(tutti_comm_f2c(*comm), c_path, spec, d->p, opt,
                                                   &c_a_out);
    free(c_path);
    a_out->p = c_a_out;
    if (c_a_out) a_out->rank = tutti__f_rank(tutti_comm_f2c(*comm));
    tutti__f_end(err, ierr);
}
TUTTI__F_TYPED(tutti_f_array_create_local)

TUTTI_API void tutti_f_array_open(const int *comm, const CFI_cdesc_t *path, int mode,
                                  tutti__f_array_handle *a_out, int *ierr,
                                  const tutti_array_spec *expect, const tutti_options *opt) {
    char *c_path = tutti__f_text(path);
    tutti_array *c_a_out = NULL;
    *a_out = (tutti__f_array_handle){0};
    const tutti_err err = tutti_array_open(tutti_comm_f2c(*comm), c_path, mode, expect, opt,
                                           &c_a_out);
    free(c_path);
    a_out->p = c_a_out;
    if (c_a_out) a_out->rank = tutti__f_rank(tutti_comm_f2c(*comm));
    tutti__f_end(err, ierr);
}
TUTTI__F_TYPED(tutti_f_array_open)

TUTTI_API void tutti_f_array_inspect(const CFI_cdesc_t *path, tutti_array_spec *spec_out, int *ierr,
                                     const tutti_options *opt, tutti__f_handle *d_out) {
    char *c_path = tutti__f_text(path);
    *spec_out = (tutti_array_spec){0};
    tutti_distribution *c_d_out = NULL;
    if (d_out) *d_out = (tutti__f_handle){0};
    const tutti_err err = tutti_array_inspect(c_path, opt, spec_out, d_out ? &c_d_out : NULL);
    free(c_path);
    if (d_out) d_out->p = c_d_out;
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_array_open_raw(const int *comm, const CFI_cdesc_t *path, int mode,
                                      const tutti_array_spec *spec, tutti__f_array_handle *a_out,
                                      int *ierr, const tutti_options *opt) {
    char *c_path = tutti__f_text(path);
    tutti_array *c_a_out = NULL;
    *a_out = (tutti__f_array_handle){0};
    const tutti_err err = tutti_array_open_raw(tutti_comm_f2c(*comm), c_path, mode, spec, opt,
                                               &c_a_out);
    free(c_path);
    a_out->p = c_a_out;
    if (c_a_out) a_out->rank = tutti__f_rank(tutti_comm_f2c(*comm));
    tutti__f_end(err, ierr);
}
TUTTI__F_TYPED(tutti_f_array_open_raw)

TUTTI_API void tutti_f_array_close(tutti__f_array_handle *a, int *ierr) {
    tutti_array *c_a = a->p;
    const tutti_err err = tutti_array_close(&c_a);
    a->p = c_a;
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_array_describe(const tutti__f_array_handle *a, tutti_array_spec *spec_out) {
    *spec_out = (tutti_array_spec){0};
    tutti_array_describe(a->p, spec_out);
}

TUTTI_API tutti__f_handle tutti_f_array_distribution(const tutti__f_array_handle *a) {
    const tutti_distribution *const got = tutti_array_distribution(
            a->p);
    return (tutti__f_handle){.p = (void *)(uintptr_t)got};
}

TUTTI_API tutti__f_handle tutti_f_array_file(const tutti__f_array_handle *a) {
    tutti_file *const got = tutti_array_file(a->p);
    return (tutti__f_handle){.p = (void *)(uintptr_t)got};
}

TUTTI_API void tutti_f_array_fill(const tutti__f_array_handle *a, const CFI_cdesc_t *element,
                                  int *ierr) {
    const tutti__f_array v_element = tutti__f_array_of(element);
    void *c_element = tutti__f_plain(&v_element, tutti__f_element(a->p, &v_element), 0);
    const tutti_err err = tutti_array_fill(a->p, c_element);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_array_resize(const tutti__f_array_handle *a, tutti_count n, int *ierr) {
    const tutti_err err = tutti_array_resize(a->p, n);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_array_sync(const tutti__f_array_handle *a, int *ierr) {
    const tutti_err err = tutti_array_sync(a->p);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_array_read(const tutti__f_array_handle *a, const tutti_slice *s,
                                  const CFI_cdesc_t *buf, int *ierr, const tutti_section *memory) {
    tutti__f_block b;
    tutti__f_slice_begin(a, s, memory, buf, &b);
    const tutti_err err = tutti_array_read(a->p, b.slice, b.memory, b.base);
    tutti__f_settled();
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_array_write(const tutti__f_array_handle *a, const tutti_slice *s,
                                   const CFI_cdesc_t *buf, int *ierr, const tutti_section *memory) {
    tutti__f_block b;
    tutti__f_slice_begin(a, s, memory, buf, &b);
    const tutti_err err = tutti_array_write(a->p, b.slice, b.memory, b.base);
    tutti__f_settled();
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_array_read_independent(const tutti__f_array_handle *a, const tutti_slice *s,
                                              const CFI_cdesc_t *buf, int *ierr,
                                              const tutti_section *memory) {
    tutti__f_block b;
    tutti__f_slice_begin(a, s, memory, buf, &b);
    const tutti_err err = tutti_array_read_independent(a->p, b.slice, b.memory, b.base);
    tutti__f_settled();
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_array_write_independent(const tutti__f_array_handle *a, const tutti_slice *s,
                                               const CFI_cdesc_t *buf, int *ierr,
                                               const tutti_section *memory) {
    tutti__f_block b;
    tutti__f_slice_begin(a, s, memory, buf, &b);
    const tutti_err err = tutti_array_write_independent(a->p, b.slice, b.memory, b.base);
    tutti__f_settled();
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_array_read_start(const tutti__f_array_handle *a, const tutti_slice *s,
                                        const CFI_cdesc_t *buf, tutti__f_handle *r_out, int *ierr,
                                        const tutti_section *memory) {
    tutti__f_block b;
    tutti__f_slice_begin(a, s, memory, buf, &b);
    tutti_request *c_r_out = NULL;
    *r_out = (tutti__f_handle){0};
    const tutti_err err = tutti_array_read_start(a->p, b.slice, b.memory, b.base, &c_r_out);
    tutti__f_settled();
    r_out->p = c_r_out;
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_array_write_start(const tutti__f_array_handle *a, const tutti_slice *s,
                                         const CFI_cdesc_t *buf, tutti__f_handle *r_out, int *ierr,
                                         const tutti_section *memory) {
    tutti__f_block b;
    tutti__f_slice_begin(a, s, memory, buf, &b);
    tutti_request *c_r_out = NULL;
    *r_out = (tutti__f_handle){0};
    const tutti_err err = tutti_array_write_start(a->p, b.slice, b.memory, b.base, &c_r_out);
    tutti__f_settled();
    r_out->p = c_r_out;
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_array_read_part(const tutti__f_array_handle *a, const tutti__f_handle *d,
                                       const CFI_cdesc_t *buf, int *ierr, const tutti_slice *within,
                                       const tutti_section *memory) {
    tutti__f_block b;
    tutti__f_part_begin(a, d->p, memory, buf, &b);
    const tutti_err err = tutti_array_read_part(a->p, b.d, within, b.memory, b.base);
    tutti__f_settled();
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_array_write_part(const tutti__f_array_handle *a, const tutti__f_handle *d,
                                        const CFI_cdesc_t *buf, int *ierr,
                                        const tutti_slice *within, const tutti_section *memory) {
    tutti__f_block b;
    tutti__f_part_begin(a, d->p, memory, buf, &b);
    const tutti_err err = tutti_array_write_part(a->p, b.d, within, b.memory, b.base);
    tutti__f_settled();
    tutti__f_end(err, ierr);
}

TUTTI_API tutti_count tutti_f_array_partitions(const tutti__f_array_handle *a, int ranks,
                                               tutti_off budget) {
    const tutti_count got = tutti_array_partitions(a->p, ranks, budget);
    return got;
}

TUTTI_API tutti_slice tutti_f_array_partition(const tutti__f_array_handle *a, tutti_count n,
                                              tutti_count k) {
    const tutti_slice got = tutti_array_partition(a->p, n, k);
    return got;
}

TUTTI_API void tutti_f_array_copy(const tutti__f_array_handle *from,
                                  const tutti__f_array_handle *to, tutti_off budget, int *ierr,
                                  tutti_progress_fn *progress, void *const *context) {
    const tutti_err err = tutti_array_copy(from->p, to->p, budget, progress,
                                           context ? *context : NULL);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_array_prefetch(const tutti__f_array_handle *a, const tutti_slice *s,
                                      int *ierr) {
    const tutti_err err = tutti_array_prefetch(a->p, s);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_array_prefetch_drop(const tutti__f_array_handle *a, int *ierr) {
    const tutti_err err = tutti_array_prefetch_drop(a->p);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_tiles_next(const tutti__f_handle *t, tutti_tile *tile_out, int *ierr) {
    *tile_out = (tutti_tile){0};
    const tutti_err err = tutti_tiles_next(t->p, tile_out);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_tiles_end(tutti__f_handle *t, int *ierr) {
    tutti_tiles *c_t = t->p;
    const tutti_err err = tutti_tiles_end(&c_t);
    t->p = c_t;
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_tiles_stats_get(const tutti__f_handle *t, tutti_tiles_stats *out) {
    *out = (tutti_tiles_stats){0};
    tutti_tiles_stats_get(t->p, out);
}


/* ---- tutti/replicas.h */

TUTTI_API const char *tutti_f_replicas_rule_name(tutti_replicas_rule rule) {
    const char *const got = tutti_replicas_rule_name(rule);
    return got;
}

TUTTI_API void tutti_f_replicas_rule_parse(const CFI_cdesc_t *name, tutti_replicas_rule *out,
                                           int *ierr) {
    char *c_name = tutti__f_text(name);
    const tutti_err err = tutti_replicas_rule_parse(c_name, out);
    free(c_name);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_replicas_free(tutti__f_replicas *r) {
    tutti_replicas *c_r = r->p;
    tutti_replicas_free(&c_r);
    r->p = c_r;
}

TUTTI_API tutti__f_handle tutti_f_replicas_write_access(const tutti__f_replicas *r) {
    const tutti_access *const got = tutti_replicas_write_access(
            r->p);
    return (tutti__f_handle){.p = (void *)(uintptr_t)got};
}

TUTTI_API tutti__f_handle tutti_f_replicas_read_access(const tutti__f_replicas *r) {
    const tutti_access *const got = tutti_replicas_read_access(r->p);
    return (tutti__f_handle){.p = (void *)(uintptr_t)got};
}

TUTTI_API tutti_off tutti_f_replicas_bytes(const tutti__f_replicas *r) {
    const tutti_off got = tutti_replicas_bytes(r->p);
    return got;
}

TUTTI_API void tutti_f_replicas_stats_get(const tutti__f_replicas *r, tutti_replicas_stats *out,
                                          int *ierr) {
    *out = (tutti_replicas_stats){0};
    const tutti_err err = tutti_replicas_stats_get(r->p, out);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_replicas_share_get(const tutti__f_replicas *r, int rank,
                                          tutti_replicas_share *out, int *ierr) {
    *out = (tutti_replicas_share){0};
    const tutti_err err = tutti_replicas_share_get(r->p, rank, out);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_replicas_choose(const tutti_replicas_lists *lists,
                                       const tutti_replicas_choice *choice,
                                       const CFI_cdesc_t *writers_out, int *ierr,
                                       const CFI_cdesc_t *shares_out,
                                       tutti_replicas_stats *stats_out) {
    const int fits = tutti__f_fits(writers_out, lists->n)
        && tutti__f_fits(shares_out, lists->parts);
    if (stats_out) *stats_out = (tutti_replicas_stats){0};
    const tutti_err err = tutti_replicas_choose(lists, choice,
                                                fits ? tutti__f_list(writers_out) : NULL,
                                                tutti__f_list(shares_out), stats_out);
    tutti__f_end(err, ierr);
}


/* ---- tutti/decomposition.h */

TUTTI_API void tutti_f_decomposition_free(tutti__f_entries *p) {
    tutti_decomposition *c_p = p->p;
    tutti_decomposition_free(&c_p);
    p->p = c_p;
}

TUTTI_API tutti_count tutti_f_decomposition_entries(const tutti__f_entries *p) {
    const tutti_count got = tutti_decomposition_entries(p->p);
    return got;
}

TUTTI_API void tutti_f_decomposition_positions(const tutti__f_entries *p,
                                               const CFI_cdesc_t *index_out, int *ierr) {
    const int fits = tutti__f_fits(index_out, tutti_decomposition_entries(p->p));
    const tutti_err err = tutti_decomposition_positions(p->p,
                                                        fits ? tutti__f_list(index_out) : NULL);
    tutti__f_end(err, ierr);
}


/* ---- tutti/dataset.h */

TUTTI_API void tutti_f_dataset_options_init(tutti_dataset_options *opt) {
    tutti_dataset_options_init(opt);
}

TUTTI_API void tutti_f_dataset_close(tutti__f_handle *d, int *ierr) {
    tutti_dataset *c_d = d->p;
    const tutti_err err = tutti_dataset_close(&c_d);
    d->p = c_d;
    tutti__f_end(err, ierr);
}

TUTTI_API int tutti_f_dataset_container(const tutti__f_handle *d) {
    const int got = tutti_dataset_container(d->p);
    return got;
}

TUTTI_API void tutti_f_dataset_refresh(const tutti__f_handle *d, int *changed_out, int *ierr) {
    const tutti_err err = tutti_dataset_refresh(d->p, changed_out);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_dataset_list(const tutti__f_handle *d, const CFI_cdesc_t *name, int *ierr) {
    char *c_name = tutti__f_text(name);
    const tutti_err err = tutti_dataset_list(d->p, c_name);
    free(c_name);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_dataset_ids(const tutti__f_handle *d, const CFI_cdesc_t *space,
                                   const CFI_cdesc_t *ids, int *ierr) {
    char *c_space = tutti__f_text(space);
    const tutti_err err = tutti_dataset_ids(d->p, c_space, (tutti_count)tutti__f_length(ids),
                                            tutti__f_list(ids));
    free(c_space);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_dataset_put_type(const tutti__f_handle *d, const CFI_cdesc_t *variable,
                                        tutti_type type, int *ierr) {
    char *c_variable = tutti__f_text(variable);
    const tutti_err err = tutti_dataset_put_type(d->p, c_variable, type);
    free(c_variable);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_dataset_begin(const tutti__f_handle *d, tutti_segment_kind kind,
                                     int64_t index, double time, int *ierr) {
    const tutti_err err = tutti_dataset_begin(d->p, kind, index, time);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_dataset_begin_also(const tutti__f_handle *d, tutti_segment_kind kind,
                                          int64_t index, double time, int *ierr) {
    const tutti_err err = tutti_dataset_begin_also(d->p, kind, index, time);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_dataset_commit(const tutti__f_handle *d, int *ierr) {
    const tutti_err err = tutti_dataset_commit(d->p);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_dataset_commit_start(const tutti__f_handle *d, tutti__f_handle *r_out,
                                            int *ierr) {
    tutti_request *c_r_out = NULL;
    *r_out = (tutti__f_handle){0};
    const tutti_err err = tutti_dataset_commit_start(d->p, &c_r_out);
    r_out->p = c_r_out;
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_dataset_discard(const tutti__f_handle *d, int *ierr) {
    const tutti_err err = tutti_dataset_discard(d->p);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_dataset_erase_after(const tutti__f_handle *d, tutti_count segment,
                                           int *ierr) {
    const tutti_err err = tutti_dataset_erase_after(d->p, segment);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_dataset_drop_oldest(const tutti__f_handle *d, int keep, int *ierr) {
    const tutti_err err = tutti_dataset_drop_oldest(d->p, keep);
    tutti__f_end(err, ierr);
}

TUTTI_API tutti_count tutti_f_dataset_segments(const tutti__f_handle *d) {
    const tutti_count got = tutti_dataset_segments(d->p);
    return got;
}

TUTTI_API void tutti_f_dataset_segment(const tutti__f_handle *d, tutti_count number,
                                       tutti_segment *out, int *ierr) {
    *out = (tutti_segment){0};
    const tutti_err err = tutti_dataset_segment(d->p, number, out);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_dataset_find_index(const tutti__f_handle *d, tutti_segment_kind kind,
                                          int64_t index, tutti_count *out, int *ierr) {
    const tutti_err err = tutti_dataset_find_index(d->p, kind, index, out);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_dataset_find_time(const tutti__f_handle *d, tutti_segment_kind kind,
                                         double time, tutti_count *out, int *ierr) {
    const tutti_err err = tutti_dataset_find_time(d->p, kind, time, out);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_dataset_latest(const tutti__f_handle *d, tutti_segment_kind kind,
                                      tutti_count *out, int *ierr) {
    const tutti_err err = tutti_dataset_latest(d->p, kind, out);
    tutti__f_end(err, ierr);
}

TUTTI_API tutti_count tutti_f_dataset_spaces(const tutti__f_handle *d) {
    const tutti_count got = tutti_dataset_spaces(d->p);
    return got;
}

TUTTI_API tutti_count tutti_f_dataset_variables(const tutti__f_handle *d) {
    const tutti_count got = tutti_dataset_variables(d->p);
    return got;
}

TUTTI_API void tutti_f_dataset_variable_row(const tutti__f_handle *d, tutti_count number,
                                            tutti_variable_row *out, int *ierr) {
    *out = (tutti_variable_row){0};
    const tutti_err err = tutti_dataset_variable_row(d->p, number, out);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_dataset_section_row(const tutti__f_handle *d, tutti_count segment,
                                           const CFI_cdesc_t *variable, tutti_section_row *out,
                                           int *ierr) {
    char *c_variable = tutti__f_text(variable);
    *out = (tutti_section_row){0};
    const tutti_err err = tutti_dataset_section_row(d->p, segment, c_variable, out);
    free(c_variable);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_dataset_chunk_bounds(const tutti__f_handle *d, tutti_count segment,
                                            const CFI_cdesc_t *variable, tutti_count first,
                                            tutti_count n, const CFI_cdesc_t *bounds_out,
                                            int *ierr) {
    char *c_variable = tutti__f_text(variable);
    const int fits = tutti__f_fits(bounds_out, n + 1);
    const tutti_err err = tutti_dataset_chunk_bounds(d->p, segment, c_variable, first, n,
                                                     fits ? tutti__f_list(bounds_out) : NULL);
    free(c_variable);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_dataset_verify(const tutti__f_handle *d, int *ierr, tutti_off *bytes_out) {
    const tutti_err err = tutti_dataset_verify(d->p, bytes_out);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_dataset_verify_segment(const tutti__f_handle *d, tutti_count segment,
                                              int *ierr, tutti_off *bytes_out) {
    const tutti_err err = tutti_dataset_verify_segment(d->p, segment, bytes_out);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_dataset_repair(const int *comm, const CFI_cdesc_t *path, int *ierr,
                                      const tutti_dataset_options *opt,
                                      tutti_repair_report *report_out) {
    char *c_path = tutti__f_text(path);
    if (report_out) *report_out = (tutti_repair_report){0};
    const tutti_err err = tutti_dataset_repair(tutti_comm_f2c(*comm), c_path, opt, report_out);
    free(c_path);
    tutti__f_end(err, ierr);
}
TUTTI__F_TYPED(tutti_f_dataset_repair)

TUTTI_API void tutti_f_dataset_archive(const tutti__f_handle *d, tutti_count first,
                                       tutti_count last, const CFI_cdesc_t *to, int *ierr,
                                       tutti_off *freed_out) {
    char *c_to = tutti__f_text(to);
    const tutti_err err = tutti_dataset_archive(d->p, first, last, c_to, freed_out);
    free(c_to);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_dataset_restore(const tutti__f_handle *d, tutti_count first,
                                       tutti_count last, const CFI_cdesc_t *from, int *ierr) {
    char *c_from = tutti__f_text(from);
    const tutti_err err = tutti_dataset_restore(d->p, first, last, c_from);
    free(c_from);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_dataset_archive_stream(const tutti__f_handle *d, tutti_count first,
                                              tutti_count last, const tutti_stream *to,
                                              tutti_off *freed_out, int *ierr) {
    const tutti_err err = tutti_dataset_archive_stream(d->p, first, last, to, freed_out);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_dataset_restore_stream(const tutti__f_handle *d, tutti_count first,
                                              tutti_count last, const tutti_stream *from,
                                              int *ierr) {
    const tutti_err err = tutti_dataset_restore_stream(d->p, first, last, from);
    tutti__f_end(err, ierr);
}


/* ---- tutti/exodus.h */

TUTTI_API void tutti_f_exodus_options_init(tutti_exodus_options *opt) {
    tutti_exodus_options_init(opt);
}

TUTTI_API void tutti_f_exodus_close(tutti__f_handle *x, int *ierr) {
    tutti_exodus *c_x = x->p;
    const tutti_err err = tutti_exodus_close(&c_x);
    x->p = c_x;
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_exodus_refresh(const tutti__f_handle *x, int *changed_out, int *ierr) {
    const tutti_err err = tutti_exodus_refresh(x->p, changed_out);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_exodus_new_topology(const tutti__f_handle *x, int *ierr) {
    const tutti_err err = tutti_exodus_new_topology(x->p);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_exodus_next_file(const tutti__f_handle *x, int *ierr) {
    const tutti_err err = tutti_exodus_next_file(x->p);
    tutti__f_end(err, ierr);
}

TUTTI_API const char *tutti_f_exodus_path(const tutti__f_handle *x) {
    const char *const got = tutti_exodus_path(x->p);
    return got;
}

TUTTI_API const char *tutti_f_exodus_warning(const tutti__f_handle *x) {
    const char *const got = tutti_exodus_warning(x->p);
    return got;
}

TUTTI_API const char *tutti_f_exodus_kind_name(int kind) {
    const char *const got = tutti_exodus_kind_name(kind);
    return got;
}

TUTTI_API void tutti_f_exodus_init(const tutti__f_handle *x, const tutti_exodus_parameters *p,
                                   int *ierr) {
    const tutti_err err = tutti_exodus_init(x->p, p);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_exodus_define(const tutti__f_handle *x, const CFI_cdesc_t *entities,
                                     int *ierr) {
    const tutti_err err = tutti_exodus_define(x->p, (tutti_count)tutti__f_length(entities),
                                              tutti__f_list(entities));
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_exodus_variables(const tutti__f_handle *x, tutti_exodus_kind kind,
                                        const CFI_cdesc_t *names, int *ierr) {
    char **c_names = tutti__f_texts(names);
    const tutti_err err = tutti_exodus_variables(x->p, kind, (int)tutti__f_length(names),
                                                 (const char *const *)c_names);
    tutti__f_texts_free(names, c_names);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_exodus_truth(const tutti__f_handle *x, tutti_exodus_kind kind,
                                    const CFI_cdesc_t *table, int *ierr) {
    const int fits = tutti__f_fits(table, tutti_exodus_entities(x->p, kind) * tutti_exodus_variable_count(x->p, kind));
    const tutti_err err = tutti_exodus_truth(x->p, kind, fits ? tutti__f_list(table) : NULL);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_exodus_attribute_names(const tutti__f_handle *x, tutti_exodus_kind kind,
                                              int64_t id, const CFI_cdesc_t *names, int *ierr) {
    char **c_names = tutti__f_texts(names);
    const tutti_err err = tutti_exodus_attribute_names(x->p, kind, id, (int)tutti__f_length(names),
                                                       (const char *const *)c_names);
    tutti__f_texts_free(names, c_names);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_exodus_property(const tutti__f_handle *x, tutti_exodus_kind kind,
                                       const CFI_cdesc_t *name, const CFI_cdesc_t *values,
                                       int *ierr) {
    char *c_name = tutti__f_text(name);
    const int fits = tutti__f_fits(values, tutti_exodus_entities(x->p, kind));
    const tutti_err err = tutti_exodus_property(x->p, kind, c_name,
                                                fits ? tutti__f_list(values) : NULL);
    free(c_name);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_exodus_put_qa(const tutti__f_handle *x, const CFI_cdesc_t *records,
                                     int *ierr) {
    const tutti_err err = tutti_exodus_put_qa(x->p, (int)tutti__f_length(records),
                                              tutti__f_list(records));
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_exodus_put_info(const tutti__f_handle *x, const CFI_cdesc_t *lines,
                                       int *ierr) {
    char **c_lines = tutti__f_texts(lines);
    const tutti_err err = tutti_exodus_put_info(x->p, (int)tutti__f_length(lines),
                                                (const char *const *)c_lines);
    tutti__f_texts_free(lines, c_lines);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_exodus_end_definitions(const tutti__f_handle *x, int *ierr) {
    const tutti_err err = tutti_exodus_end_definitions(x->p);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_exodus_put_mesh(const tutti__f_handle *x, int *ierr,
                                       const tutti_exodus_mesh *mesh) {
    const tutti_err err = tutti_exodus_put_mesh(x->p, mesh);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_exodus_get_mesh(const tutti__f_handle *x, const tutti_exodus_deal *deal,
                                       const tutti_exodus_mesh **mesh_out, int *ierr) {
    *mesh_out = NULL;
    const tutti_err err = tutti_exodus_get_mesh(x->p, deal, mesh_out);
    tutti__f_end(err, ierr);
}

TUTTI_API const char *tutti_f_exodus_mesh_warning(const tutti__f_handle *x) {
    const char *const got = tutti_exodus_mesh_warning(x->p);
    return got;
}

TUTTI_API tutti_count tutti_f_exodus_own_elements(const tutti__f_handle *x, tutti_exodus_kind kind,
                                                  tutti_count number) {
    const tutti_count got = tutti_exodus_own_elements(x->p, kind, number);
    return got;
}

TUTTI_API tutti_count tutti_f_exodus_entries(const tutti__f_handle *x, tutti_exodus_kind kind,
                                             int64_t id) {
    const tutti_count got = tutti_exodus_entries(x->p, kind, id);
    return got;
}

TUTTI_API void tutti_f_exodus_begin(const tutti__f_handle *x, double time, int *ierr) {
    const tutti_err err = tutti_exodus_begin(x->p, time);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_exodus_commit(const tutti__f_handle *x, int *ierr) {
    const tutti_err err = tutti_exodus_commit(x->p);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_exodus_discard(const tutti__f_handle *x, int *ierr) {
    const tutti_err err = tutti_exodus_discard(x->p);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_exodus_erase_after(const tutti__f_handle *x, tutti_count step, int *ierr) {
    const tutti_err err = tutti_exodus_erase_after(x->p, step);
    tutti__f_end(err, ierr);
}

TUTTI_API tutti_count tutti_f_exodus_steps(const tutti__f_handle *x) {
    const tutti_count got = tutti_exodus_steps(x->p);
    return got;
}

TUTTI_API void tutti_f_exodus_times(const tutti__f_handle *x, tutti_count first,
                                    const CFI_cdesc_t *times_out, int *ierr) {
    const tutti_err err = tutti_exodus_times(x->p, first, (tutti_count)tutti__f_length(times_out),
                                             tutti__f_list(times_out));
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_exodus_parameters_get(const tutti__f_handle *x, tutti_exodus_parameters *out,
                                             int *ierr) {
    *out = (tutti_exodus_parameters){0};
    const tutti_err err = tutti_exodus_parameters_get(x->p, out);
    tutti__f_end(err, ierr);
}

TUTTI_API tutti_count tutti_f_exodus_entities(const tutti__f_handle *x, tutti_exodus_kind kind) {
    const tutti_count got = tutti_exodus_entities(x->p, kind);
    return got;
}

TUTTI_API void tutti_f_exodus_entity_get(const tutti__f_handle *x, tutti_exodus_kind kind,
                                         tutti_count number, tutti_exodus_entity *out, int *ierr) {
    *out = (tutti_exodus_entity){0};
    const tutti_err err = tutti_exodus_entity_get(x->p, kind, number, out);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_exodus_find(const tutti__f_handle *x, tutti_exodus_kind kind, int64_t id,
                                   tutti_count *number_out, int *ierr) {
    const tutti_err err = tutti_exodus_find(x->p, kind, id, number_out);
    tutti__f_end(err, ierr);
}

TUTTI_API int tutti_f_exodus_variable_count(const tutti__f_handle *x, tutti_exodus_kind kind) {
    const int got = tutti_exodus_variable_count(x->p, kind);
    return got;
}

TUTTI_API const char *tutti_f_exodus_variable_name(const tutti__f_handle *x, tutti_exodus_kind kind,
                                                   int number) {
    const char *const got = tutti_exodus_variable_name(x->p, kind, number);
    return got;
}

TUTTI_API int tutti_f_exodus_has(const tutti__f_handle *x, tutti_exodus_kind kind,
                                 tutti_count number, int variable) {
    const int got = tutti_exodus_has(x->p, kind, number, variable);
    return got;
}

TUTTI_API const char *tutti_f_exodus_attribute_name(const tutti__f_handle *x,
                                                    tutti_exodus_kind kind, int64_t id,
                                                    int number) {
    const char *const got = tutti_exodus_attribute_name(x->p, kind, id, number);
    return got;
}

TUTTI_API const char *tutti_f_exodus_property_name(const tutti__f_handle *x, tutti_exodus_kind kind,
                                                   int number) {
    const char *const got = tutti_exodus_property_name(x->p, kind, number);
    return got;
}

TUTTI_API void tutti_f_exodus_property_get(const tutti__f_handle *x, tutti_exodus_kind kind,
                                           const CFI_cdesc_t *name, const CFI_cdesc_t *values_out,
                                           int *ierr) {
    char *c_name = tutti__f_text(name);
    const int fits = tutti__f_fits(values_out, tutti_exodus_entities(x->p, kind));
    const tutti_err err = tutti_exodus_property_get(x->p, kind, c_name,
                                                    fits ? tutti__f_list(values_out) : NULL);
    free(c_name);
    tutti__f_end(err, ierr);
}

TUTTI_API int tutti_f_exodus_qa_count(const tutti__f_handle *x) {
    const int got = tutti_exodus_qa_count(x->p);
    return got;
}

TUTTI_API void tutti_f_exodus_qa_get(const tutti__f_handle *x, int number, tutti_exodus_qa *out,
                                     int *ierr) {
    *out = (tutti_exodus_qa){0};
    const tutti_err err = tutti_exodus_qa_get(x->p, number, out);
    tutti__f_end(err, ierr);
}

TUTTI_API const char *tutti_f_exodus_info_line(const tutti__f_handle *x, int number) {
    const char *const got = tutti_exodus_info_line(x->p, number);
    return got;
}

TUTTI_API int tutti_f_exodus_topology_nodes(const CFI_cdesc_t *topology) {
    char *c_topology = tutti__f_text(topology);
    const int got = tutti_exodus_topology_nodes(c_topology);
    free(c_topology);
    return got;
}

TUTTI_API int tutti_f_exodus_topology_sides(const CFI_cdesc_t *topology, int nodes, int dims) {
    char *c_topology = tutti__f_text(topology);
    const int got = tutti_exodus_topology_sides(c_topology, nodes, dims);
    free(c_topology);
    return got;
}

TUTTI_API int tutti_f_exodus_side_nodes(const CFI_cdesc_t *topology, int nodes, int dims, int side,
                                        const CFI_cdesc_t *which_out) {
    char *c_topology = tutti__f_text(topology);
    const int fits = tutti__f_fits(which_out, 9);
    const int got = tutti_exodus_side_nodes(c_topology, nodes, dims, side,
                                            fits ? tutti__f_list(which_out) : NULL);
    free(c_topology);
    return got;
}

TUTTI_API void tutti_f_exodus_note_name(const tutti__f_handle *x, tutti_count number,
                                        const CFI_cdesc_t *name_out, int *ierr) {
    char c_name_out[4096] = "";
    const tutti_err err = tutti_exodus_note_name(x->p, number, c_name_out);
    tutti__f_put_text(name_out, c_name_out);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_exodus_verify(const tutti__f_handle *x, int *ierr, tutti_off *bytes_out) {
    const tutti_err err = tutti_exodus_verify(x->p, bytes_out);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_exodus_nemesis_get(const tutti__f_handle *x, int processor,
                                          tutti_exodus_nemesis *out, int *ierr) {
    *out = (tutti_exodus_nemesis){0};
    const tutti_err err = tutti_exodus_nemesis_get(x->p, processor, out);
    tutti__f_end(err, ierr);
}


/* ---- tutti/mesh.h */

TUTTI_API int tutti_f_mesh_type_nodes(int type) {
    const int got = tutti_mesh_type_nodes(type);
    return got;
}

TUTTI_API int tutti_f_mesh_type_dim(int type) {
    const int got = tutti_mesh_type_dim(type);
    return got;
}

TUTTI_API const char *tutti_f_mesh_type_name(int type) {
    const char *const got = tutti_mesh_type_name(type);
    return got;
}

TUTTI_API void tutti_f_mesh_open(const int *comm, const CFI_cdesc_t *path, tutti__f_handle *m_out,
                                 int *ierr, const tutti_options *opt) {
    char *c_path = tutti__f_text(path);
    tutti_mesh *c_m_out = NULL;
    *m_out = (tutti__f_handle){0};
    const tutti_err err = tutti_mesh_open(tutti_comm_f2c(*comm), c_path, opt, &c_m_out);
    free(c_path);
    m_out->p = c_m_out;
    tutti__f_end(err, ierr);
}
TUTTI__F_TYPED(tutti_f_mesh_open)

TUTTI_API void tutti_f_mesh_free(tutti__f_handle *m) {
    tutti_mesh *c_m = m->p;
    tutti_mesh_free(&c_m);
    m->p = c_m;
}

TUTTI_API void tutti_f_mesh_set_groups(const tutti__f_handle *m, const CFI_cdesc_t *groups,
                                       int *ierr) {
    const tutti_err err = tutti_mesh_set_groups(m->p, (int)tutti__f_length(groups),
                                                tutti__f_list(groups));
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_mesh_describe(const tutti__f_handle *m, tutti_mesh_info *out, int *ierr) {
    *out = (tutti_mesh_info){0};
    const tutti_err err = tutti_mesh_describe(m->p, out);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_mesh_write(const tutti__f_handle *m, const CFI_cdesc_t *path,
                                  tutti_mesh_format format, int *ierr, const tutti_options *opt) {
    char *c_path = tutti__f_text(path);
    const tutti_err err = tutti_mesh_write(m->p, c_path, format, opt);
    free(c_path);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_mesh_renumber(const tutti__f_handle *m, tutti_mesh_order order, int *ierr) {
    const tutti_err err = tutti_mesh_renumber(m->p, order);
    tutti__f_end(err, ierr);
}

TUTTI_API int tutti_f_mesh_has_metis(void) {
    const int got = tutti_mesh_has_metis();
    return got;
}

TUTTI_API void tutti_f_mesh_partition(const tutti__f_handle *m, int parts, tutti_mesh_by by,
                                      const CFI_cdesc_t *of_out, int *ierr,
                                      const CFI_cdesc_t *load) {
    const int fits = tutti__f_fits(load, tutti__f_mesh_nodes(m->p))
        && tutti__f_fits(of_out, tutti__f_mesh_nodes(m->p));
    const tutti_err err = tutti_mesh_partition(m->p, parts, by, tutti__f_list(load),
                                               fits ? tutti__f_list(of_out) : NULL);
    tutti__f_end(err, ierr);
}

TUTTI_API int tutti_f_mesh_partitioned_by(const tutti__f_handle *m) {
    const int got = tutti_mesh_partitioned_by(m->p);
    return got;
}

TUTTI_API void tutti_f_mesh_cut_get(const tutti__f_handle *m, int parts, const CFI_cdesc_t *of,
                                    tutti_mesh_cut *out, int *ierr, const CFI_cdesc_t *load) {
    const int fits = tutti__f_fits(of, tutti__f_mesh_nodes(m->p))
        && tutti__f_fits(load, tutti__f_mesh_nodes(m->p));
    *out = (tutti_mesh_cut){0};
    const tutti_err err = tutti_mesh_cut_get(m->p, parts, fits ? tutti__f_list(of) : NULL,
                                             tutti__f_list(load), out);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_mesh_part_make(const tutti__f_handle *m, const CFI_cdesc_t *of,
                                      tutti__f_handle *p_out, int *ierr) {
    const int fits = tutti__f_fits(of, tutti__f_mesh_nodes(m->p));
    tutti_mesh_part *c_p_out = NULL;
    *p_out = (tutti__f_handle){0};
    const tutti_err err = tutti_mesh_part_make(m->p, fits ? tutti__f_list(of) : NULL, &c_p_out);
    p_out->p = c_p_out;
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_mesh_part_free(tutti__f_handle *p) {
    tutti_mesh_part *c_p = p->p;
    tutti_mesh_part_free(&c_p);
    p->p = c_p;
}

TUTTI_API void tutti_f_mesh_part_exchange(const tutti__f_handle *p, const CFI_cdesc_t *values,
                                          int per_node, int *ierr) {
    const int fits = tutti__f_fits(values, tutti__f_part_nodes(p->p) * (per_node > 0 ? per_node : 0));
    const tutti_err err = tutti_mesh_part_exchange(p->p, fits ? tutti__f_list(values) : NULL,
                                                   per_node);
    tutti__f_end(err, ierr);
}


/* ---- tutti/mpitype.h */

TUTTI_API void tutti_f_access_from_view(tutti_off displacement, const int *filetype,
                                        tutti_off bytes_skipped, tutti_count count,
                                        const int *memtype, tutti__f_handle *out, int *ierr) {
    tutti_access *c_out = NULL;
    *out = (tutti__f_handle){0};
    const tutti_err err = tutti_access_from_view(displacement, tutti_datatype_f2c(*filetype),
                                                 bytes_skipped, count, tutti_datatype_f2c(*memtype),
                                                 &c_out);
    out->p = c_out;
    tutti__f_end(err, ierr);
}
TUTTI__F_TYPED(tutti_f_access_from_view)

TUTTI_API void tutti_f_view_make(tutti_off displacement, const int *filetype,
                                 tutti__f_handle *v_out, int *ierr) {
    tutti_view *c_v_out = NULL;
    *v_out = (tutti__f_handle){0};
    const tutti_err err = tutti_view_make(displacement, tutti_datatype_f2c(*filetype), &c_v_out);
    v_out->p = c_v_out;
    tutti__f_end(err, ierr);
}
TUTTI__F_TYPED(tutti_f_view_make)

TUTTI_API void tutti_f_view_access(const tutti__f_handle *v, tutti_off bytes_skipped,
                                   tutti_count count, const int *memtype, tutti__f_handle *out,
                                   int *ierr) {
    tutti_access *c_out = NULL;
    *out = (tutti__f_handle){0};
    const tutti_err err = tutti_view_access(v->p, bytes_skipped, count,
                                            tutti_datatype_f2c(*memtype), &c_out);
    out->p = c_out;
    tutti__f_end(err, ierr);
}
TUTTI__F_TYPED(tutti_f_view_access)

TUTTI_API void tutti_f_view_free(tutti__f_handle *v) {
    tutti_view *c_v = v->p;
    tutti_view_free(&c_v);
    v->p = c_v;
}

TUTTI_API void tutti_f_view_bounds(const tutti__f_handle *v, tutti_off *lo, tutti_off *hi) {
    tutti_view_bounds(v->p, lo, hi);
}


/* ---- tutti/profile.h */

TUTTI_API tutti_profile_info tutti_f_profile_row(int i) {
    const tutti_profile_info *const got = tutti_profile_row(i);
    return got ? *got : (tutti_profile_info){0};
}

TUTTI_API void tutti_f_profile_defaults(tutti_profile *p, const CFI_cdesc_t *type) {
    char *c_type = tutti__f_text(type);
    tutti_profile_defaults(p, c_type);
    free(c_type);
}

TUTTI_API void tutti_f_profile_place(const CFI_cdesc_t *path, tutti_place *place_out, int *ierr) {
    char *c_path = tutti__f_text(path);
    *place_out = (tutti_place){0};
    const tutti_err err = tutti_profile_place(c_path, place_out);
    free(c_path);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_profile_path(const CFI_cdesc_t *path_out, int *ierr) {
    char c_path_out[4096] = "";
    const tutti_err err = tutti_profile_path(c_path_out, sizeof c_path_out);
    tutti__f_put_text(path_out, c_path_out);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_profile_load(const tutti_place *place, tutti_profile *p_out, int *ierr,
                                    const CFI_cdesc_t *file) {
    char *c_file = tutti__f_text(file);
    *p_out = (tutti_profile){0};
    const tutti_err err = tutti_profile_load(c_file, place, p_out);
    free(c_file);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_profile_save(const CFI_cdesc_t *file, const tutti_place *place,
                                    const tutti_profile *p, int *ierr) {
    char *c_file = tutti__f_text(file);
    const tutti_err err = tutti_profile_save(c_file, place, p);
    free(c_file);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_profile_predict(const tutti_profile *p, const tutti_options *opt,
                                       const tutti_forecast *f, int *method_out,
                                       double *seconds_out, int *ierr) {
    const tutti_err err = tutti_profile_predict(p, opt, f, method_out, seconds_out);
    tutti__f_end(err, ierr);
}


/* ---- tutti/sizes.h */

TUTTI_API int tutti_f_size_add(tutti_off a, tutti_off b, tutti_off *out) {
    const int got = tutti_size_add(a, b, out);
    return got;
}

TUTTI_API int tutti_f_size_multiply(tutti_off a, tutti_off b, tutti_off *out) {
    const int got = tutti_size_multiply(a, b, out);
    return got;
}

TUTTI_API int tutti_f_size_product(const CFI_cdesc_t *shape, tutti_count *out) {
    tutti__f_counts c_shape;
    tutti__f_counts_of(shape, &c_shape);
    const int got = tutti_size_product(c_shape.n, c_shape.list, out);
    return got;
}

TUTTI_API int tutti_f_size_fits(tutti_count count, tutti_off size, tutti_off bytes) {
    const int got = tutti_size_fits(count, size, bytes);
    return got;
}

TUTTI_API int tutti_f_size_to_int(tutti_off n, int *out) {
    const int got = tutti_size_to_int(n, out);
    return got;
}

TUTTI_API tutti_count tutti_f_size_share(tutti_count all, int parts, int part) {
    const tutti_count got = tutti_size_share(all, parts, part);
    return got;
}

