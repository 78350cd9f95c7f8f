/* Tutti: several variables in one operation.
 *
 * One call with many parts needs one agreement, one plan and one exchange, where many calls need
 * one each.  Each part has an access, a buffer and optionally a conversion of types or byte
 * order:
 *
 *     tutti_part part[2] = {{.access = a, .buf = pressure},
 *                           {.access = b, .buf = speed,
 *                            .convert = {.file_type = TUTTI_FLOAT32, .memory_type = TUTTI_FLOAT64,
 *                                        .file_order = TUTTI_BIG_ENDIAN}}};
 *     tutti_file_write_parts(f, 2, part, NULL);
 *
 * Errors.  A collective call fails with one code and one message on all ranks, those of the
 * lowest rank that fails.  A rank that passes a NULL or stale file or plan handle has no
 * communicator: only that rank gets the error, and the others, which cannot detect it, wait.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_PARTS_H
#define TUTTI_PARTS_H

#include <tutti/types.h>
#include <tutti/error.h>
#include <tutti/access.h>
#include <tutti/file.h>
#include <tutti/element_types.h>

TUTTI_BEGIN_DECLS

/** A part of an operation.
 *
 *  With a conversion the access is described as if memory had the type of the file: a memory
 *  offset of k elements is k * tutti_type_size(file_type) in the access and k *
 *  tutti_type_size(memory_type) in `buf`.  Runs must consist of whole elements, in the file and
 *  in memory, otherwise the call fails with TUTTI_ERR_ARG.  In the file they may begin at any
 *  byte; bytes that are named twice must belong to the same elements. */
typedef struct tutti_part {
    const tutti_access *access; /* NULL: this rank has failed; see tutti_set_local_error */
    void *buf;                  /* address of memory offset 0; not changed by a write */
    tutti_conversion convert;
    int64_t reserved[2]; /* 0: for later versions */
} tutti_part;

/** @name Collective access to parts
 *  Write or read n >= 0 parts, as tutti_file_write and tutti_file_read do.
 *  Collective; ranks may have different numbers of parts.
 *  A rank with one access may call tutti_file_write or tutti_file_read instead.  If several parts
 *  of a rank name the same byte, a write uses the last part, and a read fills all of them.
 *  @param[out] count_out  NULL, or the number of bytes of this rank in the file, over all
 *      parts.
 *  @return TUTTI_ERR_VALUE if a value does not fit its type; the message names rank, part,
 *      element and value, and the bytes named by a write are undefined. */
/**@{*/
TUTTI_API tutti_err tutti_file_write_parts(tutti_file *f, int n, const tutti_part *parts,
                                           tutti_off *count_out) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_file_read_parts(tutti_file *f, int n, const tutti_part *parts,
                                          tutti_off *count_out) TUTTI_MUST_USE;
/**@}*/

/** @name Independent access to parts
 *  Write or read parts by this rank alone.
 *  Not collective; any thread. */
/**@{*/
TUTTI_API tutti_err tutti_file_write_parts_independent(tutti_file *f, int n,
                                                       const tutti_part *parts,
                                                       tutti_off *count_out) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_file_read_parts_independent(tutti_file *f, int n, const tutti_part *parts,
                                                      tutti_off *count_out) TUTTI_MUST_USE;
/**@}*/

/** @name Split and non-blocking access to parts
 *  Begin or start a transfer of parts.
 *  Collective.
 *  End it with tutti_file_write_end or tutti_file_read_end, or complete the request with
 *  tutti_request_test or tutti_request_wait.  The array `parts` may be freed when the call
 *  returns. */
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
/** Plan writes, or reads, of parts; buffers are ignored.
 *  Collective. */
TUTTI_API tutti_err tutti_plan_write_parts(tutti_file *f, int n, const tutti_part *parts,
                                           tutti_plan **p_out) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_plan_read_parts(tutti_file *f, int n, const tutti_part *parts,
                                          tutti_plan **p_out) TUTTI_MUST_USE;

/** Run or start a plan with one buffer per part.
 *  Collective; `displacement` must be the same on all ranks.
 *  A plan of one part can be run by tutti_plan_run as well, and any plan by these functions. */
TUTTI_API tutti_err tutti_plan_run_parts(tutti_plan *p, int n, void *const *bufs,
                                         tutti_off displacement,
                                         tutti_off *count_out) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_plan_start_parts(tutti_plan *p, int n, void *const *bufs,
                                           tutti_off displacement) TUTTI_MUST_USE;
/**@}*/

TUTTI_END_DECLS
#endif
