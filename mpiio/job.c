/* mpiio: conversion of a data call to an access of Tutti, in three steps.
 *
 *   check      the arguments, as required by MPI
 *   place      determine the position: explicit, or a file pointer, which is advanced at once:
 *              calls of several threads, and non-blocking calls, then never get the same position
 *   describe   make an access of the bytes of the view at this position and the memory of the
 *              program
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "job.h"

/* ---- check */

static int check_mode(const mpiio_file *f, const mpiio_call *c) {
    const int sequential = c->where == MPIIO_AT || c->where == MPIIO_POINTER;
    if (c->is_write && (f->amode & MPI_MODE_RDONLY))
        return mpiio_complain(MPI_ERR_READ_ONLY, "cannot write '%s': opened with MPI_MODE_RDONLY",
                              f->path);
    if (!c->is_write && (f->amode & MPI_MODE_WRONLY))
        return mpiio_complain(MPI_ERR_ACCESS, "cannot read '%s': opened with MPI_MODE_WRONLY",
                              f->path);
    if (sequential && (f->amode & MPI_MODE_SEQUENTIAL))
        return mpiio_complain(MPI_ERR_UNSUPPORTED_OPERATION,
                              "'%s' was opened with MPI_MODE_SEQUENTIAL: only the shared file "
                              "pointer can be used",
                              f->path);
    return MPI_SUCCESS;
}

static int check_amount(mpiio_job *job) {
    const mpiio_view *v = &job->file->view;
    const mpiio_call *c = &job->call;
    MPI_Count size = 0;
    PMPI_Type_size_x(c->type, &size);
    MPI_Offset element = size; /* size in the file */
    job->native = size;
    if (v->external && c->count > 0) {
        const int code = mpiio_external_size(c->type, &element);
        if (code != MPI_SUCCESS) return code;
    }
    if (size < 0 || __builtin_mul_overflow(c->count, element, &job->bytes))
        return mpiio_complain(MPI_ERR_ARG, "%lld elements of %lld bytes exceed 2^63 bytes",
                              (long long)c->count, (long long)size);
#ifndef OPEN_MPI /* Open MPI accepts such calls, so they are not an error here either */
    if (job->bytes % v->etype_size != 0)
        return mpiio_complain(MPI_ERR_IO, "%lld bytes are not a multiple of the etype size %lld",
                              (long long)job->bytes, (long long)v->etype_size);
#endif
    if (job->bytes > 0 && v->tile_size == 0)
        return mpiio_complain(MPI_ERR_IO, "the filetype of the view has no bytes");
    return MPI_SUCCESS;
}

static int check_call(mpiio_job *job) {
    const mpiio_call *c = &job->call;
    int code = check_mode(job->file, c);
    if (code != MPI_SUCCESS) return code;
    if (c->count < 0)
        return mpiio_complain(MPI_ERR_COUNT, "count is %lld: must be >= 0", (long long)c->count);
    if (c->where == MPIIO_AT && c->offset < 0)
        return mpiio_complain(MPI_ERR_ARG, "offset is %lld: must be >= 0", (long long)c->offset);
    code = mpiio_type_check(job->file, c->type);
    if (code == MPI_SUCCESS) code = check_amount(job);
    if (code != MPI_SUCCESS) return code;
    if (!c->buf && job->bytes > 0 && mpiio_type_is_named(c->type))
        return mpiio_complain(MPI_ERR_BUFFER, "argument buf is NULL");
    return MPI_SUCCESS;
}

/* ---- place */

/* Largest offset in Tutti, beyond the size of any file.  A read at or after this offset returns 0
 * bytes, as in the MPI libraries; a write fails. */
static const MPI_Offset largest_offset = ((MPI_Offset)1 << 62) - 1;

/* Place a read that would start beyond all offsets at the last offset that can be represented;
 * return 0 for other calls. */
static int place_behind(mpiio_job *job) {
    if (job->call.is_write || job->call.where != MPIIO_AT) return 0;
    job->at = INT64_MAX - job->bytes;
    return 1;
}

/* Return whether the end of the bytes (in a view with holes, their start) is beyond all offsets. */
static int is_behind(const mpiio_job *job) {
    const mpiio_view *v = &job->file->view;
    MPI_Offset at = job->at + job->bytes;
    if (!v->plain && v->tile_size > 0 &&
        __builtin_mul_overflow(job->at / v->tile_size, v->tile_extent, &at))
        return 1;
    return __builtin_add_overflow(at, v->displacement, &at) || at >= largest_offset;
}

static int take_place(mpiio_job *job) {
    mpiio_file *f = job->file;
    switch (job->call.where) {
    case MPIIO_AT:
        if (!__builtin_mul_overflow(job->call.offset, f->view.etype_size, &job->at))
            return MPI_SUCCESS;
        if (place_behind(job)) return MPI_SUCCESS;
        return mpiio_complain(MPI_ERR_ARG,
                              "offset is %lld: the position in the view exceeds 2^63 bytes",
                              (long long)job->call.offset);
    case MPIIO_POINTER:
        job->at = __atomic_fetch_add(&f->position, job->bytes, __ATOMIC_RELAXED);
        return MPI_SUCCESS;
    case MPIIO_SHARED:
        return mpiio_shared_add(f, job->bytes, &job->at);
    default:
        return mpiio_shared_ordered(f, job->bytes, &job->at);
    }
}

static int place_job(mpiio_job *job) {
    MPI_Offset end;
    const int code = take_place(job);
    if (code != MPI_SUCCESS || !__builtin_add_overflow(job->at, job->bytes, &end)) return code;
    if (place_behind(job)) return MPI_SUCCESS;
    if (job->call.where == MPIIO_POINTER)
        __atomic_fetch_sub(&job->file->position, job->bytes, __ATOMIC_RELAXED);
    return mpiio_complain(MPI_ERR_ARG, "%lld bytes at offset %lld exceed 2^63 bytes",
                          (long long)job->bytes, (long long)job->at);
}

/* Set the file pointer back after a call that transferred fewer bytes, unless another call has
 * moved the pointer since. */
static void pointer_back(const mpiio_job *job, MPI_Offset moved) {
    MPI_Offset ahead = job->at + job->bytes;
    const MPI_Offset etype = job->file->view.etype_size;
    const MPI_Offset right = job->at + (moved + etype - 1) / etype * etype;
    if (job->call.where != MPIIO_POINTER || right >= ahead) return;
    __atomic_compare_exchange_n(&job->file->position, &ahead, right, 0, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
}

void mpiio_job_settle_pointer(const mpiio_job *job) {
    if (job->complaint == MPI_SUCCESS) pointer_back(job, job->delivered);
}

/* ---- describe */

static tutti_err access_make(mpiio_job *job, MPI_Count count, MPI_Datatype type) {
    const mpiio_view *v = &job->file->view;
    tutti_off at;
    if (!v->plain) return tutti_view_access(v->tiles, job->at, count, type, &job->access);
    if (__builtin_add_overflow(v->displacement, job->at, &at)) at = INT64_MAX;
    MPI_Count lb = 0, extent = 0;
    PMPI_Type_get_extent_x(type, &lb, &extent);
    if (type == MPI_BYTE || (mpiio_type_is_named(type) && extent == job->native))
        return tutti_access_contiguous(at, job->bytes, &job->access);
    return tutti_access_from_view(at, MPI_BYTE, 0, count, type, &job->access);
}

static int pack_memory(mpiio_job *job) {
    job->packed = malloc((size_t)job->bytes);
    if (!job->packed)
        return mpiio_complain(MPI_ERR_NO_MEM, "cannot allocate %lld bytes for external32 data",
                              (long long)job->bytes);
    job->buf = job->packed;
    const mpiio_call *c = &job->call;
    const int code = mpiio_converter_make(c->buf, c->count, c->type, &job->converter);
    if (code != MPI_SUCCESS || !c->is_write) return code;
    return mpiio_converter_pack(job->converter, job->packed);
}

/* Make the access; use repeat.c if bytes are repeated within a tile (`tiles` is NULL), or if the
 * access spans overlapping tiles. */
static int describe_with(mpiio_job *job, MPI_Count count, MPI_Datatype type) {
    const mpiio_view *v = &job->file->view;
    if (v->tile != MPI_DATATYPE_NULL &&
        (!v->tiles || job->at / v->tile_size != (job->at + job->bytes - 1) / v->tile_size))
        return mpiio_repeat_make(job, count, type);
    return mpiio_complain_tutti(access_make(job, count, type));
}

static int describe_job(mpiio_job *job) {
    int code = MPI_SUCCESS;
    const int reads_nothing = !job->call.is_write && is_behind(job);
    if (job->bytes == 0 || reads_nothing)
        return mpiio_complain_tutti(tutti_access_contiguous(0, 0, &job->access));
    if (job->file->view.external) {
        code = pack_memory(job);
        return code == MPI_SUCCESS ? describe_with(job, job->bytes, MPI_BYTE) : code;
    }
    if (!job->call.buf) {
        /* MPI_BOTTOM: Tutti does not accept a NULL buffer, so use address 1 and displacement -1 */
        const int one = 1;
        const MPI_Aint back = -1;
        code = PMPI_Type_create_hindexed(1, &one, &back, job->call.type, &job->own);
        if (code != MPI_SUCCESS) return code;
        job->call.buf = (void *)1;
        job->call.type = job->own;
    }
    job->buf = job->call.buf;
    return describe_with(job, job->call.count, job->call.type);
}

static void job_free(mpiio_job *job) {
    tutti_access_free(&job->access);
    mpiio_repeat_free(&job->repeat);
    mpiio_converter_free(&job->converter);
    if (job->own != MPI_DATATYPE_NULL) PMPI_Type_free(&job->own);
    free(job->packed);
    job->packed = NULL;
}

void mpiio_job_refuse(mpiio_file *f, const mpiio_call *call, int complaint, mpiio_job *job) {
    *job = (mpiio_job){.file = f, .call = *call, .complaint = complaint, .own = MPI_DATATYPE_NULL};
    /* the call is collective: the other ranks wait for this rank */
    if (call->where == MPIIO_ORDERED) mpiio_shared_ordered(f, 0, &job->at);
}

void mpiio_job_fail(mpiio_job *job, int complaint) {
    pointer_back(job, 0);
    job_free(job);
    job->buf = NULL;
    job->complaint = complaint;
}

void mpiio_job_make(mpiio_file *f, const mpiio_call *call, mpiio_job *job) {
    *job = (mpiio_job){.file = f, .call = *call, .own = MPI_DATATYPE_NULL};
    int code = check_call(job);
    if (code != MPI_SUCCESS) {
        mpiio_job_refuse(f, call, code, job);
        return;
    }
    code = place_job(job);
    if (code != MPI_SUCCESS) job->complaint = code;
    if (code == MPI_SUCCESS && (code = describe_job(job)) != MPI_SUCCESS) mpiio_job_fail(job, code);
}

MPI_Offset mpiio_job_end(mpiio_job *job, tutti_err outcome, tutti_off moved) {
    MPI_Offset status_bytes = outcome == TUTTI_OK ? moved : 0;
    if (job->repeat && !job->call.is_write)
        status_bytes = mpiio_repeat_count(job->repeat, status_bytes);
    job->delivered = status_bytes;
    if (job->converter && status_bytes > 0)
        status_bytes = job->call.is_write
                           ? job->native * job->call.count
                           : mpiio_converter_unpack(job->converter, job->packed, status_bytes);
    job_free(job);
    return status_bytes;
}
