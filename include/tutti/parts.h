/* Tutti: several variables in one operation.
 *
 * A program that writes thirty variables by thirty calls pays thirty times for agreeing, planning
 * and waiting.  Here it names all of them, each with its own access, buffer and, if numbers are of
 * another type or byte order in the file, conversion; they travel together, in one set of windows.
 *
 *     tutti_part part[2] = {{.access = a, .buf = pressure},
 *                           {.access = b, .buf = speed,
 *                            .convert = {.file_type = TUTTI_FLOAT32, .memory_type = TUTTI_FLOAT64,
 *                                        .file_order = TUTTI_BIG_ENDIAN}}};
 *     tutti_file_write_parts(f, 2, part, NULL);
 *
 *
 * Errors.  A collective call fails with one code and one message on all ranks, those of the lowest
 * rank that fails.  A rank that passes a NULL or stale file or plan handle has no communicator:
 * only that rank gets the error, and the others, which cannot detect it, wait.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_PARTS_H
#define TUTTI_PARTS_H

#include <tutti/types.h>
#include <tutti/error.h>
#include <tutti/access.h>
#include <tutti/file.h>
#include <tutti/numbers.h>

TUTTI_BEGIN_DECLS

/** A part of an operation.
 *
 *  With a conversion the access is described as if memory held numbers of the file's type too: a
 *  memory offset of k elements is k * tutti_type_size(file_type) there, and k *
 *  tutti_type_size(memory_type) in `buf`.  Runs of the file and of memory must be whole elements; in
 *  the file they may begin anywhere, but what is mentioned again is mentioned as the same elements.
 *  TUTTI_ERR_ARG: they are not whole, or a memory offset does not lie at a whole byte of `buf`. */
typedef struct tutti_part {
    const tutti_access *access; /* NULL: this rank could not make it; see tutti_refuse */
    void *buf;                  /* address of its memory offset 0; not changed by a write */
    tutti_conversion convert;
    int64_t reserved[2]; /* 0: for later versions */
} tutti_part;

/** @name Parts at once
 *  What tutti_file_write and tutti_file_read do, for n >= 0 parts.   Collective.   Ranks may have
 *  different numbers of parts; who has just one access may call tutti_file_write or tutti_file_read
 *  meanwhile.   Bytes of the file that several parts of a rank name: a write takes the last part's, a
 *  read fills all of them.
 *  @param[out] count_out  NULL, or this rank's bytes in the file, of all parts together
 *  @return TUTTI_ERR_VALUE: a value does not fit its type.  The message says which: rank, part,
 *      element and value.  What was written is undefined then */
/**@{*/
TUTTI_API tutti_err tutti_file_write_parts(tutti_file *f, int n, const tutti_part *parts,
                                           tutti_off *count_out) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_file_read_parts(tutti_file *f, int n, const tutti_part *parts,
                                          tutti_off *count_out) TUTTI_MUST_USE;
/**@}*/

/** @name Parts of one rank alone.   Local, any thread. */
/**@{*/
TUTTI_API tutti_err tutti_file_write_parts_independent(tutti_file *f, int n,
                                                       const tutti_part *parts,
                                                       tutti_off *count_out) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_file_read_parts_independent(tutti_file *f, int n, const tutti_part *parts,
                                                      tutti_off *count_out) TUTTI_MUST_USE;
/**@}*/

/** @name Parts by split and non-blocking collectives
 *  As tutti_file_write_begin, ended by tutti_file_write_end or tutti_file_read_end, and as
 *  tutti_file_write_start, completed by tutti_request_test or tutti_request_wait.  `parts` itself is
 *  not needed any longer when the call returns. */
/**@{*/
TUTTI_API tutti_err tutti_file_write_parts_begin(tutti_file *f, int n,
                                                 const tutti_part *parts) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_file_read_parts_begin(tutti_file *f, int n,
                                                const tutti_part *parts) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_file_write_parts_start(tutti_file *f, int n, const tutti_part *parts,
                                                 tutti_request **r_out) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_file_read_parts_start(tutti_file *f, int n, const tutti_part *parts,
                                                tutti_request **r_out) TUTTI_MUST_USE;
/**@}*/

/** @name Plans of parts */
/**@{*/
/** Plan writes (or reads) of parts; their buffers do not matter yet.   Collective. */
TUTTI_API tutti_err tutti_plan_write_parts(tutti_file *f, int n, const tutti_part *parts,
                                           tutti_plan **p_out) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_plan_read_parts(tutti_file *f, int n, const tutti_part *parts,
                                          tutti_plan **p_out) TUTTI_MUST_USE;

/** As tutti_plan_run and tutti_plan_start, with a buffer for each of the n parts that were planned;
 *  any plan can be run so.   A plan of a single part can be run by tutti_plan_run as well. */
TUTTI_API tutti_err tutti_plan_run_parts(tutti_plan *p, int n, void *const *bufs,
                                         tutti_off displacement,
                                         tutti_off *count_out) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_plan_start_parts(tutti_plan *p, int n, void *const *bufs,
                                           tutti_off displacement) TUTTI_MUST_USE;
/**@}*/

TUTTI_END_DECLS
#endif
