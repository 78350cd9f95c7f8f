/* collective: predicted time of a request without a file (used by `tutti mesh tree`).
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/memory.h"
#include "base/options_impl.h"
#include "exchange/shuffle.h"
#include "plan/cost.h"

tutti_err tutti_profile_predict_sized(const tutti_profile *p, size_t struct_size,
                                      const tutti_options *opt, const tutti_forecast *f,
                                      int *method_out, double *seconds_out) {
    enum { PAGE = 4096 };
    tutti__candidate k[TUTTI__CANDIDATES];
    tutti_options full;
    tutti_profile profile;
    TUTTI_CHECK(p, TUTTI_ERR_ARG, "argument p is NULL");
    TUTTI_CHECK(opt, TUTTI_ERR_ARG, "argument opt is NULL");
    TUTTI_CHECK(f, TUTTI_ERR_ARG, "argument f is NULL");
    TUTTI_CHECK(method_out, TUTTI_ERR_ARG, "argument method_out is NULL");
    TUTTI_CHECK(seconds_out, TUTTI_ERR_ARG, "argument seconds_out is NULL");
    TUTTI_CHECK_RESERVED(f, "the forecast");
    TUTTI_CHECK(f->ranks >= 1 && f->nodes >= 1 && f->nodes <= f->ranks, TUTTI_ERR_ARG,
                "ranks is %d and nodes is %d: must be 1 <= nodes <= ranks", f->ranks, f->nodes);
    TUTTI_CHECK(f->bytes >= 1 && f->pieces >= 1 && f->pieces <= f->bytes, TUTTI_ERR_ARG,
                "pieces is %lld and bytes is %lld: must be 1 <= pieces <= bytes",
                (long long)f->pieces, (long long)f->bytes);
    TUTTI_TRY(tutti__options_take(opt, &full));
    /* default values of fields that the caller's struct does not have */
    tutti_profile_defaults(&profile, NULL);
    memcpy(&profile, p, struct_size < sizeof profile ? struct_size : sizeof profile);
    tutti_off extents; /* the pieces of different ranks interleave */
    if (!tutti__mul_ok(f->bytes, f->ranks, &extents)) extents = INT64_MAX;
    const tutti__summary s = {.lo = 0,
                              .hi = f->bytes,
                              .bytes = f->bytes,
                              .extents = f->pieces > f->ranks ? extents : f->bytes,
                              .runs = f->pieces,
                              .ranks = tutti__min(f->ranks, f->pieces),
                              .max_bytes = (f->bytes + f->ranks - 1) / f->ranks,
                              .run = f->bytes / f->pieces,
                              .piece = f->bytes / f->pieces,
                              .first = 0,
                              .last = 1};
    const tutti__cost_case c = {.s = &s,
                                .opt = &full,
                                .profile = &profile,
                                .is_write = f->is_write,
                                .ranks = f->ranks,
                                .groups = f->nodes,
                                .largest = (f->ranks + f->nodes - 1) / f->nodes,
                                .align = full.striping_unit > 0 ? full.striping_unit : PAGE,
                                .striped = full.striping_unit > PAGE,
                                .remote = profile.remote > 0,
                                .may_sieve = full.rmw,
                                .buffers = tutti__exchange_buffers};
    (void)tutti__cost_candidates(&c, k);
    *method_out = k[0].method;
    *seconds_out = k[0].seconds;
    return TUTTI_OK;
}
