/* tutti verify of an Exodus file: check its format and every checksum of its sidecar.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/cmd_exodus.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    const data_config *config;
    tutti_count files, steps, unsummed;
    tutti_off bytes;
    double seconds;
    char *place;   /* first damaged range */
    char *warning; /* first warning; NULL: none */
} verdict;

static int is_damage(tutti_err err) {
    return err == TUTTI_ERR_FORMAT || err == TUTTI_ERR_TRUNCATED;
}

/* Record damage.  Returns 0, or 1 and a message if the file cannot be read. */
static int record_outcome(verdict *v, tutti_err err) {
    if (err == TUTTI_OK || err == TUTTI_ERR_NOT_FOUND) return 0;
    if (!is_damage(err)) return cli_error_tutti();
    if (!v->place) v->place = cli_strdup(tutti_last_message());
    return 0;
}

static int verify_file(verdict *v, tutti_exodus *x) {
    for (int more = 1; more;) {
        tutti_off bytes = 0;
        const char *warning = tutti_exodus_warning(x);
        if (warning[0] && !v->warning)
            v->warning = cli_format("%s: %s", tutti_exodus_path(x), warning);
        v->files++;
        v->steps += tutti_exodus_steps(x);
        if (record_outcome(v, tutti_exodus_verify(x, &bytes))) return 1;
        v->bytes += bytes;
        v->unsummed += bytes == 0 && !v->place;
        const tutti_err err = tutti_exodus_next_file(x);
        if (record_outcome(v, err)) return 1;
        more = err == TUTTI_OK;
    }
    return 0;
}

static void print_outcome(const verdict *v) {
    char size[32];
    if (v->place) fprintf(stderr, "%s\n", cli_shown(v->place));
    if (v->config->quiet) return;
    cli_format_size(v->bytes, size, sizeof size);
    printf("%s: %s; %lld step%s in %lld file%s, %s in %.2f s\n", v->config->path[0],
           v->place ? "damaged" : "ok", (long long)v->steps, v->steps == 1 ? "" : "s",
           (long long)v->files, v->files == 1 ? "" : "s", size, v->seconds);
    if (v->warning) printf("%s\n", cli_shown(v->warning));
    if (v->unsummed)
        printf("%lld file%s no checksums: numbers were not compared\n", (long long)v->unsummed,
               v->unsummed == 1 ? " has" : "s have");
}

static void print_outcome_json(const verdict *v) {
    cli_json_pair(stdout, "{", "path", v->config->path[0]);
    printf(", \"ok\": %s, \"files\": %lld, \"steps\": %lld, \"without_checksums\": %lld, "
           "\"bytes\": %lld, \"seconds\": %.6f",
           v->place ? "false" : "true", (long long)v->files, (long long)v->steps,
           (long long)v->unsummed, (long long)v->bytes, v->seconds);
    cli_json_pair(stdout, ", ", "place", v->place);
    cli_json_pair(stdout, ", ", "warning", v->warning ? v->warning : "");
    printf("}\n");
}

int exodus_verify(const cli_world *w, const data_config *config) {
    verdict v = {.config = config};
    tutti_exodus *x = NULL;
    const double start = cli_now();
    const tutti_err err = tutti_exodus_open(w->comm, config->path[0], TUTTI_READ, NULL, &x);
    int failed = err == TUTTI_OK  ? verify_file(&v, x)
                 : is_damage(err) ? record_outcome(&v, err)
                                  : cli_error_tutti();
    v.seconds = cli_now() - start;
    if (x) (void)tutti_exodus_close(&x);
    if (w->rank == 0 && !failed) (config->json ? print_outcome_json : print_outcome)(&v);
    const int code = failed ? CLI_FAILED : v.place ? CLI_DIFFERS : CLI_OK;
    free(v.place);
    free(v.warning);
    return code;
}
