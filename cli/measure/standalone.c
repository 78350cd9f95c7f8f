/* Arguments, failures and report of programs for single measurements.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "measure/standalone.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int standalone_rank, standalone_ranks = 1;
void (*standalone_abort)(int code); /* ends all ranks; NULL without MPI */
static const standalone *program;
static int series; /* number of series in the report so far */

static _Noreturn void end_program(int code) {
    if (standalone_abort) standalone_abort(code);
    exit(code);
}

void standalone_fail(const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    fprintf(stderr, "%s: ", program ? program->name : "");
    vfprintf(stderr, fmt, args);
    fputs("\n", stderr);
    va_end(args);
    end_program(1);
}

void standalone_check(int ok, const char *what) {
    if (!ok) standalone_fail("%s", what);
}

void *standalone_alloc(size_t n, size_t size) {
    void *p = calloc(n + 1, size);
    standalone_check(p != NULL, "out of memory");
    return p;
}

static _Noreturn void refuse_arguments(const char *why, const char *what) {
    if (standalone_rank == 0) {
        fprintf(stderr, "%s: %s '%s'\nusage: %s %s", program->name, why, what, program->name,
                program->operands);
        for (const standalone_option *o = program->option; o->name; o++)
            fprintf(stderr, " [%s%s]", o->name, o->kind == OPTION_FLAG ? "" : " VALUE");
        fputs("\n", stderr);
    }
    end_program(2);
}

int standalone_start(const standalone *p, int argc, char **argv) {
    int n = 0;
    program = p;
    for (int i = 1; i < argc; i++) {
        const standalone_option *o = p->option;
        while (o->name && strcmp(o->name, argv[i]) != 0) o++;
        if (!o->name && strncmp(argv[i], "--", 2) == 0) refuse_arguments("unknown option", argv[i]);
        if (!o->name) {
            argv[n++] = argv[i];
            continue;
        }
        if (o->kind == OPTION_FLAG) {
            *(int *)o->value = 1;
            continue;
        }
        const char *text = argv[++i < argc ? i : argc];
        char *end = NULL;
        if (!text) refuse_arguments("missing value of", o->name);
        if (o->kind == OPTION_TEXT) *(const char **)o->value = text;
        if (o->kind == OPTION_SECONDS) *(double *)o->value = strtod(text, &end);
        if (o->kind == OPTION_NUMBER) {
            const long value = strtol(text, &end, 10);
            if (value < o->least || (o->most > 0 && value > o->most))
                refuse_arguments("value out of range:", text);
            *(long *)o->value = value;
        }
        if (end && (*end || end == text)) refuse_arguments("not a number:", text);
    }
    if (n < p->least) refuse_arguments("missing operand:", p->operands);
    return n;
}

/* ---- the report */

static void print_head(void) {
    printf("{\"format\": \"tutti-program-1\", \"program\": \"%s\", \"ranks\": %d, \"settings\": {",
           program->name, standalone_ranks);
    for (const standalone_option *o = program->option; o->name; o++) {
        printf("%s\"%s\": ", o == program->option ? "" : ", ", o->name + 2);
        if (o->kind == OPTION_FLAG) printf("%s", *(int *)o->value ? "true" : "false");
        if (o->kind == OPTION_NUMBER) printf("%ld", *(long *)o->value);
        if (o->kind == OPTION_SECONDS) printf("%g", *(double *)o->value);
        if (o->kind != OPTION_TEXT) continue;
        const char *text = *(const char **)o->value;
        measure_json_string(stdout, text ? text : "");
    }
    fputs("},\n  \"series\": [", stdout);
}

void standalone_report(measure *m, const char *more) {
    if (standalone_rank == 0) {
        if (series++ == 0) print_head();
        fputs(series > 1 ? ",\n    {\"title\": " : "\n    {\"title\": ", stdout);
        measure_json_string(stdout, m->title);
        printf("%s, ", more);
        measure_json(stdout, m, "variants");
        fputs("}", stdout);
    }
    measure_free(m);
}

int standalone_end(void) {
    if (standalone_rank == 0) {
        if (series == 0) print_head();
        puts("\n  ]}");
    }
    return 0;
}
