/* Arguments of commands that are fields of a struct.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "common/flags.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int cli_number_take(const char *name, const char *text, double *out) {
    char *end;
    *out = strtod(text, &end);
    if (end == text || *end || isnan(*out) || *out < 0)
        return cli_error("%s: '%s' is no number >= 0", name, text);
    return 0;
}

/* A list that goes on where it is given again. */
static void list_more(cli_list *l, const char *text) {
    char *all = l->n > 0 ? cli_strdup(l->item[0]) : cli_strdup("");
    for (int i = 1; i < l->n; i++) {
        char *longer = cli_format("%s,%s", all, l->item[i]);
        free(all);
        all = longer;
    }
    char *longer = cli_format("%s%s%s", all, *all ? "," : "", text);
    cli_list_split(l, longer);
    free(longer);
    free(all);
}

int cli_flag_take(cli_flag_kind kind, const char *name, const char *text, void *at) {
    double number = 0;
    long count = 1;
    switch (kind) {
    case CLI_TEXT:
        memcpy(at, &text, sizeof text);
        return 0;
    case CLI_LIST:
        cli_list_split(at, text);
        return 0;
    case CLI_MORE:
        list_more(at, text);
        return 0;
    case CLI_NUMBER:
        if (cli_number_take(name, text, &number)) return 1;
        memcpy(at, &number, sizeof number);
        return 0;
    case CLI_COUNT:
        if (!cli_parse_count(text, 1000000000, &count))
            return cli_error("%s: '%s' is no number", name, text);
        break;
    case CLI_YES:
        break;
    }
    memcpy(at, &(int){(int)count}, sizeof(int));
    return 0;
}
