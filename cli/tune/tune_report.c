/* tutti tune: compute the values of a profile from measurements, and print them as a table.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tune/tune.h"

#include <string.h>

/* Return the address of the profile value `name`. */
static double *profile_value(tutti_profile *p, const char *name) {
    const tutti_profile_info *row;
    for (int i = 0; (row = tutti_profile_row(i)) != NULL; i++)
        if (strcmp(row->name, name) == 0) return (double *)(void *)((char *)p + row->field);
    return NULL;
}

static const tune_probe *find_probe(const tune_probe *probe, int n, const char *name) {
    for (int i = 0; i < n; i++)
        if (strcmp(probe[i].v.name, name) == 0 && tune_seconds(&probe[i]) > 0) return &probe[i];
    return NULL;
}

static const char *const sizes[] = {"64", "512", "4k", "64k", "1m"};

/* Compute the overlap of a store, relative to the shorter of copies and file access, and its additional cost
 * per window.  A tenth of the time counts as noise. */
static void fill_store(const tune_job *job, const tune_probe *probe, int n, tutti_profile *p,
                       const char *store) {
    const double cores =
        (job->node_ranks < job->cores ? job->node_ranks : job->cores) * (double)job->nodes;
    const double copies = (double)TUNE_UNIT * job->world.ranks / (p->copy_512 * cores);
    for (int direct = 0; direct < 2; direct++) {
        char name[40];
        snprintf(name, sizeof name, "%sstore posix", direct ? "direct " : "");
        const tune_probe *plain = find_probe(probe, n, name);
        snprintf(name, sizeof name, "%sstore %s", direct ? "direct " : "", store);
        const tune_probe *behind = find_probe(probe, n, name);
        snprintf(name, sizeof name, "%soverlap_%s", direct ? "direct_" : "", store);
        if (!plain || !behind) {
            if (plain) *profile_value(p, name) = 0;
            continue;
        }
        const double before = tune_seconds(plain), gain = before - tune_seconds(behind);
        const double file = before > 1.1 * copies ? before - copies : before / 10;
        const double share = gain / (copies < file ? copies : file);
        *profile_value(p, name) = gain < before / 10 ? 0 : share < 1 ? share : 1;
        snprintf(name, sizeof name, "async_%s", store);
        if (!direct)
            *profile_value(p, name) = gain < 0 ? -gain * ((double)TUNE_WINDOW / TUNE_UNIT) : 1e-6;
    }
}

void tune_fill(const tune_job *job, const tune_probe *probe, int n, tutti_profile *p) {
    p->ranks = job->node_ranks;
    p->nodes = job->nodes;
    p->cores = job->cores;
    for (int i = 0; i < n; i++) {
        const double seconds = tune_seconds(&probe[i]);
        double *x = profile_value(p, probe[i].v.name);
        if (!x || seconds <= 0) continue;
        if (probe[i].size > 0)
            *x = (double)probe[i].size * probe[i].bodies / seconds;
        else
            *x = seconds;
    }
    /* the latency is half of the measured round trip */
    if (find_probe(probe, n, "message_latency")) p->message_latency /= 2;
    if (find_probe(probe, n, "net_latency")) p->net_latency /= 2;
    if (job->world.ranks == 1) {
        /* With a single rank, the values of one rank and of all ranks are equal. */
        char one[40], all[40];
        for (int k = 0; k < 4; k++)
            for (int i = 0; i < 5; i++) {
                const char *what[] = {"write", "read", "direct_write", "direct_read"};
                snprintf(one, sizeof one, "%s_one_%s", what[k], sizes[i]);
                snprintf(all, sizeof all, "%s_all_%s", what[k], sizes[i]);
                const double *from = profile_value(p, one);
                if (from && find_probe(probe, n, one)) *profile_value(p, all) = *from;
            }
        p->write_own_512 = p->write_all_512;
    }
    /* Longer pieces cannot be slower than shorter ones: remove this noise. */
    const char *what[] = {"write_one",       "write_all",        "read_one",
                          "read_all",        "direct_write_one", "direct_write_all",
                          "direct_read_one", "direct_read_all"};
    char name[40];
    for (int k = 0; k < 8; k++) {
        double best = 0;
        for (int i = 0; i < 5; i++) {
            snprintf(name, sizeof name, "%s_%s", what[k], sizes[i]);
            double *x = profile_value(p, name);
            if (!x) continue;
            if (*x < best) *x = best;
            best = *x;
        }
    }
    if (p->copy_512 < p->copy_64) p->copy_512 = p->copy_64;
    if (p->copy_4k < p->copy_512) p->copy_4k = p->copy_512;
    fill_store(job, probe, n, p, "uring");
    fill_store(job, probe, n, p, "threads");
    p->measured = 1;
}

/* ---- the table */

static void print_rate(const tutti_profile *p, const char *what, const char *size) {
    char name[40];
    snprintf(name, sizeof name, "%s_%s", what, size);
    const double *x = profile_value((tutti_profile *)p, name);
    if (x)
        printf(" %12.*f", *x < 1e7, *x / 1e6);
    else
        printf(" %12s", "");
}

static void print_files(const tutti_profile *p, const char *prefix) {
    const char *what[] = {"write_one", "write_all", "read_one", "read_all"};
    const char *staged[] = {"staged_write", "staged_read"};
    char name[40];
    for (int i = *prefix ? 2 : 0; i < 5; i++) {
        printf("  %-12s", sizes[i]);
        for (int k = 0; k < 4; k++) {
            snprintf(name, sizeof name, "%s%s", prefix, what[k]);
            print_rate(p, name, sizes[i]);
        }
        putchar('\n');
    }
    for (int i = 0; i < 2; i++) {
        printf("  staged %-5s", i ? "4m" : "512k");
        for (int k = 0; k < 2; k++) {
            snprintf(name, sizeof name, "%s%s", prefix, staged[k]);
            printf(" %12s", "");
            print_rate(p, name, i ? "4m" : "512k");
        }
        putchar('\n');
    }
}

void tune_print_machine(const tune_job *job, const tutti_profile *p) {
    printf("machine: %d node%s of %d cores, %d ranks\n", job->nodes, job->nodes == 1 ? "" : "s",
           job->cores, job->world.ranks);
    printf("  copies of 64, 512, 4k bytes  %.1f, %.1f, %.1f GB/s a core\n", p->copy_64 / 1e9,
           p->copy_512 / 1e9, p->copy_4k / 1e9);
    if (job->mate > 0)
        printf("  messages in a node           %.1f us, %.2f GB/s\n", 1e6 * p->message_latency,
               p->message_bandwidth / 1e9);
    if (job->away > 0)
        printf("  messages between nodes       %.1f us, %.3f GB/s\n", 1e6 * p->net_latency,
               p->net_bandwidth / 1e9);
    if (job->world.ranks > 1) printf("  agreement of all ranks       %.1f us\n", 1e6 * p->vote);
    if (p->fence > 0)
        printf("  one-sided: fence, lock, puts %.1f us, %.1f us, %.2f GB/s\n", 1e6 * p->fence,
               1e6 * p->lock, p->put_bandwidth / 1e9);
    if (job->world.ranks == 1)
        puts("  (one rank: messages, agreement and several ranks at once were not measured)");
}

void tune_print(const tune_job *job, const tutti_filesystem *place, const tutti_profile *p) {
    printf("\n%s, %s, MB/s by size of piece:\n", place->mount, place->type);
    printf("  %-12s %12s %12s %12s %12s\n", "", "write: one", "all", "read: one", "all");
    print_files(p, "");
    printf("  overlap: uring %.0f %%, threads %.0f %%\n", 100 * p->overlap_uring,
           100 * p->overlap_threads);
    if (job->direct_fd >= 0) {
        puts("  with direct_io:");
        print_files(p, "direct_");
        printf("  overlap: uring %.0f %%, threads %.0f %%\n", 100 * p->direct_overlap_uring,
               100 * p->direct_overlap_threads);
    } else {
        puts("  direct_io is not supported on this file system");
    }
    putchar('\n');
}

static double rate_of(const tune_probe *p, double seconds) {
    return (double)p->size * p->bodies / seconds / 1e6;
}

void tune_print_steady(const tune_job *job, const tune_probe *probe, int n) {
    int bursts = 0;
    for (int i = 0; i < n; i++) {
        const tune_probe *p = &probe[i];
        if (p->first_seconds > 0 && bursts++ == 0)
            puts("  the device has a burst budget; the profile has the steady rates, MB/s:");
        if (p->first_seconds > 0)
            printf("    %-26s %8.0f initially, then %8.0f\n", p->v.name,
                   rate_of(p, p->first_seconds), rate_of(p, tune_seconds(p)));
    }
    for (int i = 0; i < n; i++)
        if (probe[i].is_unsteady)
            printf("  warning: the rate of %s is not steady after %.1f s\n", probe[i].v.name,
                   job->device_slice * job->windows);
}
