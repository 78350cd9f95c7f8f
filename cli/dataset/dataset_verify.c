/* tutti verify: check the metadata database of a dataset and every checksum of its data.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/cmd_dataset.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PLACES = 20 }; /* maximum number of damaged ranges that are printed */

typedef struct {
    const data_config *config;
    const cli_world *world;
    tutti_count segments, damaged, unsummed, archived;
    tutti_off bytes;
    double seconds;
    char *place[PLACES];
    int places;
} verdict;

static void record_damage(verdict *v, const char *what) {
    v->damaged++;
    /* reported before: a missing file affects several segments */
    if (v->places > 0 && strcmp(v->place[v->places - 1], what) == 0) return;
    if (v->places < PLACES) v->place[v->places++] = cli_strdup(what);
}

/* ---- reports */

static void print_verdict(const verdict *v) {
    char size[32], rate[32];
    for (int i = 0; i < v->places; i++) fprintf(stderr, "%s\n", cli_shown(v->place[i]));
    if (v->damaged > v->places)
        fprintf(stderr, "%lld segments are damaged\n", (long long)v->damaged);
    if (v->config->quiet) return;
    cli_format_size(v->bytes, size, sizeof size);
    cli_format_size((tutti_off)(v->seconds > 0 ? (double)v->bytes / v->seconds : 0), rate,
                    sizeof rate);
    printf("%s: %s%s%s; %lld segment%s, %s in %.2f s (%s/s)\n", v->config->path[0],
           cli_paint(v->damaged ? CLI_BAD : CLI_GOOD), v->damaged ? "damaged" : "ok",
           cli_paint(CLI_PLAIN), (long long)v->segments, v->segments == 1 ? "" : "s", size,
           v->seconds, rate);
    if (v->archived)
        printf("%lld segment%s archived: not verified\n", (long long)v->archived,
               v->archived == 1 ? " is" : "s are");
    if (v->unsummed)
        printf("%lld segment%s written without checksums: not compared\n", (long long)v->unsummed,
               v->unsummed == 1 ? " was" : "s were");
}

static void print_verdict_json(const verdict *v) {
    cli_json_pair(stdout, "{", "path", v->config->path[0]);
    printf(", \"ok\": %s, \"segments\": %lld, \"without_checksums\": %lld, \"archived\": %lld, "
           "\"bytes\": %lld, "
           "\"seconds\": %.6f,\n \"damaged\": %lld, \"places\": [",
           v->damaged ? "false" : "true", (long long)v->segments, (long long)v->unsummed,
           (long long)v->archived, (long long)v->bytes, v->seconds, (long long)v->damaged);
    for (int i = 0; i < v->places; i++) {
        if (i) printf(",\n  ");
        cli_json_string(stdout, v->place[i]);
    }
    printf("]}\n");
}

int dataset_verify(const cli_world *w, const data_config *config) {
    dataset_catalogue c;
    verdict v = {.config = config, .world = w};
    const double start = cli_now();
    int failed = dataset_open(w->comm, config->path[0], &c);
    /* If open has failed with TUTTI_ERR_FORMAT and the directory has a metadata file, it is a damaged
     * dataset: record the damage instead of failing. */
    struct stat st;
    char *metadata = cli_format("%s/metadata.sqlite", config->path[0]);
    if (failed && tutti_last_error()->code == TUTTI_ERR_FORMAT && stat(metadata, &st) == 0 &&
        S_ISREG(st.st_mode)) {
        record_damage(&v, cli_message());
        failed = 0;
    } else if (!failed) {
        cli_progress progress;
        tutti_off all = 0, seen = 0;
        for (tutti_count i = 0; i < c.segments; i++) {
            tutti_segment g;
            if (tutti_dataset_segment(c.d, i, &g) == TUTTI_OK && !g.archived) all += g.bytes;
        }
        progress_start(&progress, v.world, 0);
        for (tutti_count i = -1; i < c.segments && !failed; i++) {
            tutti_segment g = {.bytes = 0};
            tutti_off bytes = 0;
            if (i >= 0 && tutti_dataset_segment(c.d, i, &g) == TUTTI_OK && g.archived) {
                v.archived++; /* archived: there is no data to check */
                continue;
            }
            const tutti_err err = tutti_dataset_verify_segment(c.d, i, &bytes);
            /* These errors report damage; any other error means that the dataset cannot be read. */
            if (err != TUTTI_OK && (err == TUTTI_ERR_FORMAT || err == TUTTI_ERR_NOT_FOUND))
                record_damage(&v, tutti_last_message());
            else if (err != TUTTI_OK)
                failed = cli_error_tutti();
            if (i < 0 || tutti_dataset_segment(c.d, i, &g) != TUTTI_OK) continue;
            v.segments++;
            v.unsummed += err == TUTTI_OK && bytes == 0 && g.sections > 0;
            v.bytes += bytes;
            seen += g.bytes;
            progress_work(&progress, "verifying", seen, all);
        }
        progress_end(&progress);
    }
    free(metadata);
    v.seconds = cli_now() - start;
    dataset_close(&c);
    if (w->rank == 0 && !failed) (config->json ? print_verdict_json : print_verdict)(&v);
    for (int i = 0; i < v.places; i++) free(v.place[i]);
    return failed ? CLI_FAILED : v.damaged ? CLI_DIFFERS : CLI_OK;
}
