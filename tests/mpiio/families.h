/* All data access calls of MPI-IO behind one function: explicit offset, individual or shared file pointer;
 * collective or independent; blocking, nonblocking or split; read or write; with int or MPI_Count counts.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_FAMILIES_H
#define TUTTI_TESTS_FAMILIES_H

#include <mpi.h>
#include <stdio.h>

enum call_where { AT, POINTER, SHARED };
enum call_how { BLOCKING, NONBLOCKING, SPLIT };

typedef struct {
    enum call_where where;
    enum call_how how;
    int together, is_write, large;
    MPI_Offset offset; /* only for calls with an explicit offset (AT) */
    void *buf;
    MPI_Count count;
    MPI_Datatype type;
} family_call;

#if MPI_VERSION >= 4
#define FORM(name, ...) (c->large ? name##_c(__VA_ARGS__) : name(__VA_ARGS__))
#else
#define FORM(name, ...) name(__VA_ARGS__)
#endif
#define DATA c->buf, c->count, c->type
#define READ_OR_WRITE(before, after, ...)                             \
    (c->is_write ? FORM(MPI_File_##before##write##after, __VA_ARGS__) \
                 : FORM(MPI_File_##before##read##after, __VA_ARGS__))

static inline int call_at(const family_call *c, MPI_File fh, MPI_Status *st, MPI_Request *rq) {
    if (c->how == SPLIT) return READ_OR_WRITE(, _at_all_begin, fh, c->offset, DATA);
    if (c->how == NONBLOCKING)
        return c->together ? READ_OR_WRITE(i, _at_all, fh, c->offset, DATA, rq)
                           : READ_OR_WRITE(i, _at, fh, c->offset, DATA, rq);
    return c->together ? READ_OR_WRITE(, _at_all, fh, c->offset, DATA, st)
                       : READ_OR_WRITE(, _at, fh, c->offset, DATA, st);
}

static inline int call_pointer(const family_call *c, MPI_File fh, MPI_Status *st, MPI_Request *rq) {
    if (c->how == SPLIT) return READ_OR_WRITE(, _all_begin, fh, DATA);
    if (c->how == NONBLOCKING)
        return c->together ? READ_OR_WRITE(i, _all, fh, DATA, rq)
                           : READ_OR_WRITE(i, , fh, DATA, rq);
    return c->together ? READ_OR_WRITE(, _all, fh, DATA, st) : READ_OR_WRITE(, , fh, DATA, st);
}

/* MPI has no nonblocking ordered calls. */
static inline int call_shared(const family_call *c, MPI_File fh, MPI_Status *st, MPI_Request *rq) {
    if (c->how == SPLIT) return READ_OR_WRITE(, _ordered_begin, fh, DATA);
    if (c->how == NONBLOCKING) return READ_OR_WRITE(i, _shared, fh, DATA, rq);
    return c->together ? READ_OR_WRITE(, _ordered, fh, DATA, st)
                       : READ_OR_WRITE(, _shared, fh, DATA, st);
}

/* Make a blocking call, or start a nonblocking or split call. */
static inline int family_start(const family_call *c, MPI_File fh, MPI_Status *st, MPI_Request *rq) {
    if (c->where == AT) return call_at(c, fh, st, rq);
    return c->where == POINTER ? call_pointer(c, fh, st, rq) : call_shared(c, fh, st, rq);
}

/* Complete a split call. */
static inline int family_end(const family_call *c, MPI_File fh, MPI_Status *st) {
    if (c->where == AT)
        return c->is_write ? MPI_File_write_at_all_end(fh, c->buf, st)
                           : MPI_File_read_at_all_end(fh, c->buf, st);
    if (c->where == POINTER)
        return c->is_write ? MPI_File_write_all_end(fh, c->buf, st)
                           : MPI_File_read_all_end(fh, c->buf, st);
    return c->is_write ? MPI_File_write_ordered_end(fh, c->buf, st)
                       : MPI_File_read_ordered_end(fh, c->buf, st);
}

/* Store the name of the call without the prefix MPI_File_, for messages. */
static inline void family_name(const family_call *c, char *out, size_t size) {
    const char *const where[] = {"_at", "", c->together ? "_ordered" : "_shared"};
    snprintf(out, size, "%s%s%s%s%s%s", c->how == NONBLOCKING ? "i" : "",
             c->is_write ? "write" : "read", where[c->where],
             c->together && c->where != SHARED ? "_all" : "", c->how == SPLIT ? "_begin" : "",
             c->large ? "_c" : "");
}

#endif
