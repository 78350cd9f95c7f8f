/* store: selecting the statistics to which file accesses of this thread are added.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "store/store.h"

static _Thread_local tutti_stats *account;

tutti_stats *tutti__store_stats(const tutti_store *s) {
    return account ? account : s->stats;
}

tutti_stats *tutti__store_account(tutti_stats *stats) {
    tutti_stats *before = account;
    account = stats;
    return before;
}
