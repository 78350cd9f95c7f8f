/* Common part of tests of many combinations of options: an axis `way`, which is an exchange or a
 * step of messages, and a loop over combinations in which every pair of values occurs.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_COMBINATIONS_H
#define TUTTI_TESTS_COMBINATIONS_H

#include <tutti/options.h>
#include "pairs.h"

static inline tutti_err way_set(tutti_options *opt, const char *name, const char *value) {
    if (strcmp(name, "way") != 0) return tutti_options_set(opt, name, value);
    const int step = value[0] >= '1' && value[0] <= '5';
    if (step) CHECK_OK(tutti_options_set(opt, "step", value));
    return tutti_options_set(opt, "exchange", step ? "two-sided" : value);
}

/* Set the options named by the first n axes to the chosen values. */
static inline void combination_set(tutti_options *opt, const pairs_axis *axes, int n,
                                   const int *choice) {
    for (int i = 0; i < n; i++) CHECK_OK(way_set(opt, axes[i].name, axes[i].value[choice[i]]));
}

/* Call fn with each combination until more than `most` checks have failed. */
static inline void combinations_run(const pairs_axis *axes, int n, void (*fn)(const int *choice),
                                    int most) {
    int choice[PAIRS_AXES];
    char where[400];
    pairs *p = pairs_make(axes, n);
    while (check_failures_ <= most && pairs_next(p, choice)) {
        pairs_text(axes, n, choice, where, sizeof where);
        check_where(where);
        fn(choice);
    }
    pairs_free(p);
    check_where("");
}

#endif
