/* plan: predicted times of the methods.
 *
 *   list        time of each file run, plus copies if memory is more scattered than the file
 *   sieve       every rank reads its own extent and copies its pieces from the buffer
 *   two-phase   x, the exchange: copies into staging, bytes over the network, messages
 *               w, file access: complete windows if the request is dense, else merged runs
 *               x + w - overlap + vote; overlap is a share of the smaller of x and w
 *
 * Reads of bytes that are not in the page cache (the summary's `cold`) also take the time of the
 * device, measured by direct reads.  The device reads a byte once, however many ranks request it:
 *
 *   list        one request per run; holes smaller than a page are read by the kernel's read-ahead
 *   sieve       the extent once
 *   two-phase   the windows or runs, as above
 *
 * The time of a request is interpolated linearly between the measured sizes.  Bandwidth is
 * interpolated linearly between one rank and the number of ranks of the measurement, and constant
 * for more ranks.  docs/explanation/automatic-choices.md has the formulas;
 * tests/plan/t213_formulas.c compares them with this file.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "plan/cost.h"

/* Candidates whose times differ by less than this factor are considered equal. */
static const double NEARLY = 1.02;

/* Fewer aggregators (method root: one) or larger windows are chosen only if they are faster by this
 * factor, because their measured rates are less accurate. */
static const double CLEARLY = 1.1;

/* Default sieve_gap in bytes for writes, and for reads that request most of the extent. */
static const tutti_off USUAL_GAP = 32 << 10;

/* Minimum bytes of a file run for direct transfers between file and user memory. */
static const tutti_off LONG = 1 << 20;

/* Time of an entry of an I/O vector, in copies of 64 bytes. */
static const double ENTRY_COPIES = 2;

static const double PAGE = 4096, LARGE = 1 << 20;

/* Time to find the requested bytes of a window, in copies of 64 bytes per run. */
static const double UNION_COPIES = 4;

/* ---- curves: time of a request by its size --------------------------------------------------- */

typedef struct {
    int n; /* number of points, which are sorted by size */
    double size[5], seconds[5];
} curve;

static double curve_at(const curve *c, double size) {
    const int last = c->n - 1;
    if (size <= c->size[0]) return c->seconds[0];
    if (size >= c->size[last]) return c->seconds[last] * (size / c->size[last]);
    int i = 1;
    while (size > c->size[i]) i++;
    const double part = (size - c->size[i - 1]) / (c->size[i] - c->size[i - 1]);
    return c->seconds[i - 1] + part * (c->seconds[i] - c->seconds[i - 1]);
}

/* Make a curve from the measured bytes per second at five sizes; 0 for the two smallest: not
 * measured. */
static curve curve_of(const double rate[5]) {
    static const double size[5] = {64, 512, 4096, 65536, 1048576};
    curve c = {.n = 0};
    for (int i = 0; i < 5; i++) {
        if (i < 2 && !(rate[i] > 0)) continue;
        c.size[c.n] = size[i];
        c.seconds[c.n++] = size[i] / rate[i];
    }
    return c;
}

/* ---- parameters of the model ----------------------------------------------------------------- */

typedef struct {
    const tutti__cost_case *c;
    const tutti_profile *p;
    double bytes;          /* requested bytes of all ranks */
    double distinct;       /* requested bytes, where bytes that several ranks request count once */
    double extent;         /* bytes from the first to the last requested byte of all ranks */
    double extents;        /* sum of the extents of the ranks */
    double runs, run;      /* number of file runs; mean bytes per run, smallest of any rank */
    double piece;          /* mean bytes of pieces that are contiguous in file and memory */
    double density;        /* distinct bytes per byte of the extent */
    double hole;           /* mean bytes between the runs of one rank */
    double joint_hole;     /* mean bytes between the combined runs of all ranks */
    double streams;        /* number of ranks that request different parts of the file */
    double crowd;          /* ranks per core, relative to the measurement */
    double cores;          /* number of cores in use, on all nodes */
    double measured_ranks; /* number of ranks of the measurement, on all nodes */
    double measured_cores; /* number of cores that they used */
    double vote;           /* seconds of one vote */
    curve one, all;        /* file access by one rank, and by all measured ranks */
    curve tiny_one, tiny_all;     /* curves `one` and `all` for requests too small for direct_io */
    curve device_one, device_all; /* additional time of reads from the device */
    /* bytes per second of windows of 512 KiB and 4 MiB, including copies */
    double staged_512k, staged_4m;
    curve copy;            /* time of copies by one core */
    double named;          /* seconds of one core to find the requested bytes of all windows */
    int asynchronous;      /* whether the store accesses the file during the exchange */
    double overlap, async; /* overlapped share of the shorter phase; additional seconds per cycle */
    int cold;              /* whether bytes are read from the device */
    tutti__gap gap;        /* holes of at most gap.bytes are read */
    tutti_off least;       /* minimum bytes per aggregator, before limits by alignment and window */
} model;

static double smaller_of(double a, double b) {
    return a < b ? a : b;
}

static double larger_of(double a, double b) {
    return a > b ? a : b;
}

/* Return the depth of a binary tree of n ranks, at least 1. */
static double tree_depth(double n) {
    int k = 1;
    while (k < 30 && (double)((tutti_off)1 << k) < n) k++;
    return k;
}

/* Return the mean time between completed requests of `clients` concurrent ranks, interpolated
 * between the curves of one rank and of all measured ranks. */
static double shared_seconds(const model *m, const curve *of_one, const curve *of_all, double size,
                             double clients) {
    const double one = curve_at(of_one, size), all = curve_at(of_all, size);
    if (clients <= 1 || m->measured_ranks <= 1) return clients <= 1 ? one : all;
    const double part = (smaller_of(clients, m->measured_ranks) - 1) / (m->measured_ranks - 1);
    return 1 / (1 / one + part * (1 / all - 1 / one));
}

/* Return the time of the device to read uncached bytes in requests of `size` bytes; 0 if bytes are
 * cached. */
static double device_seconds(const model *m, double bytes, double size, double clients) {
    if (!m->cold) return 0;
    return bytes / size * shared_seconds(m, &m->device_one, &m->device_all, size, clients);
}

static model model_of(const tutti__cost_case *c) {
    const tutti__summary *s = c->s;
    const tutti_profile *p = c->profile;
    const int w = c->is_write != 0, direct = c->opt->direct_io;
    model m = {.c = c, .p = p};

    m.bytes = (double)s->bytes;
    m.distinct = tutti__summary_is_common(s) ? m.bytes / (double)s->ranks : m.bytes;
    m.extent = (double)s->hi - (double)s->lo;
    m.extents = larger_of(smaller_of((double)s->extents, m.extent * (double)s->ranks), m.bytes);
    m.run = larger_of((double)s->run, 1); /* the rank with the shortest runs takes longest */
    m.runs = m.bytes / m.run;
    m.piece = smaller_of(larger_of((double)s->piece, 1), m.run);
    m.density = smaller_of(m.distinct / m.extent, 1);
    m.hole = larger_of((m.extents - m.bytes) / m.runs, 0);
    m.joint_hole = larger_of((m.extent - m.distinct) * m.run / m.distinct, 0);
    m.streams = tutti__summary_is_common(s) ? 1 : (double)s->ranks;
    m.cores = smaller_of((double)c->largest, p->cores) * (double)c->groups;
    m.cores = smaller_of(m.cores, (double)c->ranks);
    m.measured_ranks = p->ranks * p->nodes;
    m.measured_cores = smaller_of(p->ranks, p->cores) * p->nodes;
    m.crowd = larger_of((double)c->largest / p->cores, 1) / larger_of(p->ranks / p->cores, 1);
    if (c->ranks > 1)
        m.vote = p->vote * tree_depth(c->ranks) / tree_depth(m.measured_ranks) * m.crowd;

#define CACHED(what) \
    { p->what##_64, p->what##_512, p->what##_4k, p->what##_64k, p->what##_1m }
#define DIRECT(what) \
    { 0, 0, p->what##_4k, p->what##_64k, p->what##_1m }
    const double cached_rate[2][2][5] = {{CACHED(read_one), CACHED(read_all)},
                                         {CACHED(write_one), CACHED(write_all)}};
    const double direct_rate[2][2][5] = {{DIRECT(direct_read_one), DIRECT(direct_read_all)},
                                         {DIRECT(direct_write_one), DIRECT(direct_write_all)}};
#undef CACHED
#undef DIRECT
    m.tiny_one = curve_of(cached_rate[w][0]);
    m.tiny_all = curve_of(cached_rate[w][1]);
    m.one = direct ? curve_of(direct_rate[w][0]) : m.tiny_one;
    m.all = direct ? curve_of(direct_rate[w][1]) : m.tiny_all;
    m.cold = s->cold && !w && !direct;
    m.device_one = curve_of(direct_rate[0][0]);
    m.device_all = curve_of(direct_rate[0][1]);
    if (direct) {
        m.staged_512k = w ? p->direct_staged_write_512k : p->direct_staged_read_512k;
        m.staged_4m = w ? p->direct_staged_write_4m : p->direct_staged_read_4m;
    } else {
        m.staged_512k = w ? p->staged_write_512k : p->staged_read_512k;
        m.staged_4m = w ? p->staged_write_4m : p->staged_read_4m;
    }
    m.copy = curve_of((double[]){p->copy_64, p->copy_512, p->copy_4k, p->copy_4k, p->copy_4k});
    m.named = m.runs * UNION_COPIES * m.copy.seconds[0];

    const int uring = c->opt->store == TUTTI_STORE_URING;
    if (uring || c->opt->store == TUTTI_STORE_THREADS || c->opt->store == TUTTI_STORE_AIO) {
        m.asynchronous = 1;
        if (uring)
            m.overlap = direct ? p->direct_overlap_uring : p->overlap_uring;
        else
            m.overlap = direct ? p->direct_overlap_threads : p->overlap_threads;
        m.async = uring ? p->async_uring : p->async_threads;
    }

    /* a hole is read if that takes less time than an additional request */
    m.gap.bytes = c->opt->sieve_gap;
    if (m.gap.bytes <= 0) {
        const double clients = (double)s->ranks;
        double large;
        if (m.cold) {
            m.gap.seconds = device_seconds(&m, PAGE, PAGE, clients);
            large = device_seconds(&m, LARGE, LARGE, clients);
        } else {
            m.gap.seconds = shared_seconds(&m, &m.one, &m.all, m.one.size[0], clients);
            large = shared_seconds(&m, &m.one, &m.all, LARGE, clients);
        }
        m.gap.bytes = (tutti_off)(m.gap.seconds * LARGE / large);
        m.gap.dense = m.density >= 0.5 && m.gap.bytes < USUAL_GAP;
        if (w || m.gap.dense) m.gap.bytes = USUAL_GAP;
    }

    const double best = m.one.size[m.one.n - 1] / m.one.seconds[m.one.n - 1];
    int i = 0;
    while (m.one.size[i] / m.one.seconds[i] < 0.8 * best) i++;
    m.least = 4 * (tutti_off)m.one.size[i];
    return m;
}

tutti__gap tutti__cost_gap(const tutti__cost_case *c) {
    return model_of(c).gap;
}

tutti_off tutti__cost_least(const tutti__cost_case *c, tutti_off window) {
    return tutti__max(c->align, tutti__min(window, model_of(c).least));
}

/* Return the time to send descriptions of a rank's bytes to `aggregators` aggregators, and to
 * vote. */
static double planning_seconds(const model *m, int aggregators) {
    const double latency = m->c->groups > 1 ? m->p->net_latency : m->p->message_latency;
    return latency * m->crowd * (double)aggregators + m->vote;
}

/* ---- file access ----------------------------------------------------------------------------- */

/* Return the mean time between completed file requests of `clients` concurrent ranks. */
static double request_seconds(const model *m, double size, double clients) {
    const int tiny = size < m->one.size[0];
    return shared_seconds(m, tiny ? &m->tiny_one : &m->one, tiny ? &m->tiny_all : &m->all, size,
                          clients);
}

static double copy_seconds(const model *m, double bytes, double cores) {
    return bytes / m->piece * curve_at(&m->copy, m->piece) / cores;
}

/* Predict the time of the method list.  If memory is more scattered than the file, short pieces are
 * copied through a stage, and long pieces are entries of an I/O vector.  The device also reads
 * small holes, but at most the extent. */
static double list_seconds(const model *m) {
    const double ranks = (double)m->c->s->ranks;
    double scattered = 0;
    if (m->piece < m->run)
        scattered = m->piece < TUTTI__SCATTERED
                        ? copy_seconds(m, m->bytes, m->cores)
                        : m->bytes / m->piece * ENTRY_COPIES * m->copy.seconds[0] / m->cores;
    double t = m->runs * request_seconds(m, m->run, ranks) + scattered;
    if (m->hole < PAGE)
        t += device_seconds(m, smaller_of(m->extents, m->extent), LARGE, m->streams);
    else
        t += device_seconds(m, smaller_of(m->distinct, m->extent), m->run, m->streams);
    if (m->c->is_write && m->c->s->ranks > 1) t += planning_seconds(m, m->c->ranks);
    return t;
}

/* Predict the time of the method sieve.  Each rank reads its own extent through a buffer of `most`
 * bytes, each time from a requested byte to the last requested byte that fits, so holes as long as
 * the buffer are not read.  A write reads and writes, one rank after the other. */
static double sieve_seconds(const model *m) {
    const double ranks = (double)m->c->s->ranks, clients = m->c->is_write ? 1 : ranks;
    const double most = (double)tutti__sieve_stage(m->c->opt, m->c->is_write, m->cold);
    const int apart = m->run + m->hole >= most;
    const double taken = apart ? m->bytes : m->extents;
    const double size = smaller_of(apart ? m->run : m->extents / ranks, most);
    const double file = taken / size * request_seconds(m, size, clients);
    if (!m->c->is_write)
        return file + copy_seconds(m, m->bytes, m->cores) +
               device_seconds(m, smaller_of(taken, m->extent), size, m->streams);
    return 2 * file + copy_seconds(m, m->bytes, 1) + planning_seconds(m, m->c->ranks);
}

/* Predict the time of the file access of two-phase I/O: complete windows, or runs if holes are too
 * large. */
static double window_seconds(const model *m, double window, double aggregators) {
    /* Seconds per byte of complete windows: the measurement includes copies of 4 KiB pieces by all
     * ranks, which are subtracted. */
    const double lo = 512 << 10, hi = 4 << 20;
    double staged = m->staged_512k;
    if (window >= hi)
        staged = m->staged_4m;
    else if (window > lo)
        staged += (m->staged_4m - staged) * ((window - lo) / (hi - lo));
    const double whole = 1 / staged, copies = 1 / (m->p->copy_4k * m->measured_cores);
    const double part =
        request_seconds(m, window, aggregators) / request_seconds(m, window, m->measured_ranks);
    /* time of a call per byte of its window; significant for small windows */
    const double call = request_seconds(m, 1, aggregators) / window;
    const double byte = larger_of(whole - copies, whole / 10) * part + call;
    const double named = m->named / smaller_of(aggregators, m->cores);

    if (!m->c->is_write) {
        if (m->joint_hole <= (double)m->gap.bytes)
            return m->extent * byte + (m->density < 0.5 ? named : 0) +
                   device_seconds(m, m->extent, window, aggregators);
        return m->distinct / m->run * request_seconds(m, m->run, aggregators) +
               (m->density < 0.5 ? named : 0) +
               device_seconds(m, smaller_of(m->distinct, m->extent), m->run, aggregators);
    }

    const double dense = m->bytes * byte;
    if (m->density >= 1) return dense;
    /* neighbouring runs are contiguous with the probability of random positions */
    const double runs = m->runs * (1 - m->density);
    const double run = m->bytes / runs, size = smaller_of(run, window);
    double each = request_seconds(m, size, aggregators);
    if (size < PAGE && aggregators > 1) {
        /* runs that share pages are faster if one rank writes them than if ranks are interleaved */
        const double gain = smaller_of(m->p->write_all_512 / m->p->write_own_512, 1);
        each *= size <= 512 ? gain : gain + (1 - gain) * (size - 512) / (PAGE - 512);
    }
    return larger_of(dense, runs * each * (run > window ? run / window : 1)) + named;
}

/* ---- exchange -------------------------------------------------------------------------------- */

typedef struct {
    double total; /* seconds */
    double sent;  /* bytes that each node sends to other nodes */
} exchange_cost;

static exchange_cost exchange_seconds(const model *m, int exchange, double cycles) {
    const tutti_profile *p = m->p;
    const double ranks = m->c->ranks, mates = m->c->largest, groups = m->c->groups;

    /* ranks of a node copy into shared memory; bytes for other nodes are sent in one message per
     * node */
    if (exchange == TUTTI_EXCHANGE_SHM) {
        const double away = m->bytes * (groups - 1) / groups;
        exchange_cost x = {copy_seconds(m, m->bytes, m->cores), away / groups};
        if (groups <= 1) return x;
        x.total += away / (p->copy_4k * m->cores) + x.sent / p->net_bandwidth;
        x.total += cycles * (groups - 1) * p->net_latency * m->crowd;
        return x;
    }

    /* messages between ranks: bytes are packed, sent and unpacked, also within a node */
    const double inside = m->bytes * (mates - 1) / ranks,
                 outside = m->bytes * (ranks - mates) / ranks;
    const double pairs = larger_of(smaller_of(mates, p->cores) / 2, 1) * groups;
    double rate_inside = p->message_bandwidth, rate_outside = p->net_bandwidth;
    if (exchange != TUTTI_EXCHANGE_TWO_SIDED && p->put_bandwidth > 0) {
        rate_inside = p->put_bandwidth;
        rate_outside = smaller_of(p->net_bandwidth, p->put_bandwidth);
    }
    exchange_cost x = {2 * copy_seconds(m, m->bytes, m->cores), outside / groups};
    x.total += inside / (rate_inside * pairs);
    x.total += x.sent / rate_outside;
    if (exchange == TUTTI_EXCHANGE_FENCE)
        x.total += 2 * cycles * p->fence * m->crowd;
    else if (exchange == TUTTI_EXCHANGE_LOCK)
        x.total += 2 * cycles * p->lock * m->crowd;
    else
        x.total += cycles * m->crowd *
                   ((mates - 1) * p->message_latency + (ranks - mates) * p->net_latency);
    return x;
}

/* ---- two-phase ------------------------------------------------------------------------------- */

static double two_phase_seconds(const model *m, const tutti__candidate *k) {
    const double a = k->aggregators, window = (double)k->window;
    const double moved = m->c->is_write ? m->bytes : larger_of(m->distinct, m->extent);
    /* number of cycles with bytes, per aggregator */
    const double cycles = larger_of(smaller_of(moved / window, m->runs + m->bytes / window) / a, 1);
    const exchange_cost x = exchange_seconds(m, k->exchange, cycles);
    const double file = window_seconds(m, smaller_of(window, moved / a), a);

    /* the share of the shorter phase that is overlapped */
    double share = m->overlap;
    if (k->pipeline == TUTTI_PIPELINE_NONE || k->pipeline == TUTTI_PIPELINE_COMM) share = 0;
    if (m->c->opt->sub_buffers == 1) share = 0;
    /* each cycle waits for both phases */
    if (k->pipeline == TUTTI_PIPELINE_WRITE_COMM) share *= 0.95;
    const double hidden =
        cycles > 1 ? share * smaller_of(x.total, file) * (cycles - 1) / cycles : 0;
    const double sum = x.total + file;
    double both = sum - hidden + cycles * m->async;
    if (m->p->remote && m->c->groups > 1) {
        /* exchange and file access share the network, whose bandwidth limits the overlap */
        const double through = x.sent + m->bytes / (double)m->c->groups;
        both = larger_of(both, smaller_of(through / m->p->net_bandwidth, sum));
    }

    const double t =
        both + cycles * m->p->message_latency * m->crowd + planning_seconds(m, k->aggregators);
    return k->method == TUTTI_METHOD_ROOT ? CLEARLY * t : t;
}

/* ---- candidates ------------------------------------------------------------------------------ */

/* Choose the fastest window and number of aggregators, unless options fix them, for the method,
 * exchange and pipeline of `k`.  `literal`: for the literal engine. */
static tutti__candidate choose_staged(const model *m, tutti__candidate k, int literal) {
    static const tutti_off sizes[] = {512 << 10, 4 << 20, 64 << 20};
    const tutti__cost_case *c = m->c;
    const tutti_options *o = c->opt;
    const int fixed_window = o->window_size > 0;
    const int fixed_number = o->cb_nodes > 0 || k.method == TUTTI_METHOD_ROOT;
    tutti__candidate best = {.aggregators = 0};

    /* Without overlap one window slot is enough.  Unless an option sets pipeline or window, windows
     * are not enlarged for that, so that candidates with overlap have the same window. */
    const int one_slot =
        k.pipeline == TUTTI_PIPELINE_NONE && (o->pipeline == TUTTI_PIPELINE_NONE || fixed_window);
    const int slots = one_slot ? 1 : o->sub_buffers;
    /* window-sized buffers per rank, as counted by two_phase_plan.c */
    const int remote = k.exchange == TUTTI_EXCHANGE_SHM ? c->groups > 1 : c->ranks > 1;
    int buffers = remote ? 2 * (slots + 2) : slots;
    if (literal) {
        const int step = k.exchange == TUTTI_EXCHANGE_TWO_SIDED ? o->step : 0;
        buffers = c->buffers(k.exchange, step, slots);
    }
    const tutti_off capacity = o->cb_buffer_size / ((tutti_off)c->largest * buffers);

    for (int i = c->striped && !fixed_window ? 2 : 0; i < 3; i++) {
        const tutti_off wanted = fixed_window ? o->window_size : sizes[i];
        const tutti_off window = tutti__max(tutti__min(wanted, capacity), 4096);
        if (window == k.window) continue;
        k.window = window;

        int a = c->ranks;
        if (k.method == TUTTI_METHOD_ROOT) {
            a = 1;
        } else if (o->cb_nodes > 0) {
            if (o->cb_nodes < a) a = o->cb_nodes;
        } else {
            /* reads from a device count the complete extent: holes are read, or several requests
             * are pending */
            const tutti_off moved =
                c->s->cold ? tutti__max(c->s->bytes, c->s->hi - c->s->lo) : c->s->bytes;
            const tutti_off least = tutti__max(c->align, tutti__min(window, m->least));
            const tutti_off worth = tutti__max(moved / least, 1);
            if (worth < a) a = (int)worth;
        }
        for (; a >= 1; a = a > c->groups && a / 2 < c->groups ? c->groups : a / 2) {
            k.aggregators = a;
            k.seconds = two_phase_seconds(m, &k);
            if (best.aggregators == 0 || k.seconds * CLEARLY < best.seconds) best = k;
            if (fixed_number) break;
        }
        if (fixed_window) break;
    }
    return best;
}

/* Append candidates for an exchange with each pipeline that the options request or the store can
 * use; returns the new number of candidates. */
static int add_staged(const model *m, int method, int exchange, tutti__candidate *out, int n) {
    static const int pipelines[] = {TUTTI_PIPELINE_WRITE_COMM_2, TUTTI_PIPELINE_WRITE_COMM,
                                    TUTTI_PIPELINE_WRITE, TUTTI_PIPELINE_COMM, TUTTI_PIPELINE_NONE};
    const tutti_options *o = m->c->opt;
    const int literal =
        exchange == TUTTI_EXCHANGE_TWO_SIDED ? o->step > 0 : exchange != TUTTI_EXCHANGE_SHM;
    /* the literal engine cannot overlap cycles with a single sub-buffer */
    const int asked = o->sub_buffers == 1 && literal ? TUTTI_PIPELINE_NONE : o->pipeline;
    for (int i = 0; i < 5 && n < TUTTI__CANDIDATES; i++) {
        const int in_between =
            pipelines[i] == TUTTI_PIPELINE_WRITE || pipelines[i] == TUTTI_PIPELINE_WRITE_COMM;
        if (asked != TUTTI_PIPELINE_AUTO ? asked != pipelines[i] : in_between && !m->asynchronous)
            continue;
        const tutti__candidate k = {
            .method = method, .exchange = exchange, .pipeline = pipelines[i]};
        out[n++] = choose_staged(m, k, literal);
    }
    return n;
}

int tutti__cost_is_small(const tutti__cost_case *c) {
    const tutti__summary *s = c->s;
    const tutti_options *o = c->opt;
    const tutti_off most = 64 << 10;
    return !s->cold && o->plan_cache > 0 && !o->direct_io && !c->striped && !c->remote &&
           c->groups == 1 && s->runs == s->ranks &&
           s->piece >= (c->is_write ? (tutti_off)PAGE : 1) && s->max_bytes <= most;
}

int tutti__cost_candidates(const tutti__cost_case *c, tutti__candidate out[TUTTI__CANDIDATES]) {
    static const int order[] = {TUTTI_METHOD_LIST, TUTTI_METHOD_SIEVE, TUTTI_METHOD_TWO_PHASE,
                                TUTTI_METHOD_ROOT, TUTTI_METHOD_INDEPENDENT};
    const tutti_options *o = c->opt;
    const tutti_profile *p = c->profile;
    const int asked =
        !c->is_write && o->method_read != TUTTI_METHOD_AUTO ? o->method_read : o->method;
    if (c->s->bytes <= 0) {
        out[0] =
            (tutti__candidate){.method = asked == TUTTI_METHOD_AUTO ? TUTTI_METHOD_LIST : asked};
        return 1;
    }

    /* File runs of at least the option `direct_run` are transferred directly between file and user
     * memory.  By default, this applies to runs of at least LONG bytes, except if concurrent
     * writers would wait for each other: the kernel serializes writes of one node through its page
     * cache. */
    const int writers_wait = c->is_write && c->largest > 1 && !o->direct_io && !(p->remote > 0);
    const int straight =
        o->direct_run > 0 ? c->s->run >= o->direct_run : c->s->run >= LONG && !writers_wait;
    const model m = model_of(c);
    int n = 0;
    for (int i = 0; i < 5; i++) {
        const int method = order[i];
        const int staged = method == TUTTI_METHOD_TWO_PHASE || method == TUTTI_METHOD_ROOT;
        const int possible =
            method == TUTTI_METHOD_SIEVE ? !c->is_write || c->may_sieve : !staged || !straight;
        if (asked != method && (asked != TUTTI_METHOD_AUTO || !possible)) continue;
        if (!staged) {
            /* independent is like list, except that it passes one run at a time to the store */
            const double t = method == TUTTI_METHOD_SIEVE  ? sieve_seconds(&m)
                             : method == TUTTI_METHOD_LIST ? list_seconds(&m)
                                                           : list_seconds(&m) * NEARLY;
            if (n < TUTTI__CANDIDATES)
                out[n++] = (tutti__candidate){.method = method, .seconds = t};
            continue;
        }
        for (int x = TUTTI_EXCHANGE_SHM; x <= TUTTI_EXCHANGE_LOCK; x++) {
            /* whether an option requests the exchange, or its cost is known; `step` implies
             * two-sided */
            int wanted = 1;
            if (o->exchange != TUTTI_EXCHANGE_AUTO)
                wanted = x == o->exchange;
            else if (o->step > 0)
                wanted = x == TUTTI_EXCHANGE_TWO_SIDED;
            else if (x == TUTTI_EXCHANGE_FENCE)
                wanted = p->fence > 0 && c->ranks > 1;
            else if (x == TUTTI_EXCHANGE_LOCK)
                wanted = p->lock > 0 && c->ranks > 1;
            if (wanted) n = add_staged(&m, method, x, out, n);
        }
    }

    /* move the chosen candidate to the front, and sort the others by time */
    double least = out[0].seconds;
    int first = 0;
    for (int i = 1; i < n; i++) least = smaller_of(least, out[i].seconds);
    while (out[first].seconds > least * NEARLY) first++;
    if (asked == TUTTI_METHOD_AUTO && tutti__cost_is_small(c)) first = 0; /* the method list */
    const tutti__candidate taken = out[first];
    for (int i = first; i > 0; i--) out[i] = out[i - 1];
    out[0] = taken;
    for (int i = 2; i < n; i++) {
        const tutti__candidate x = out[i];
        int at = i;
        for (; at > 1 && out[at - 1].seconds > x.seconds; at--) out[at] = out[at - 1];
        out[at] = x;
    }
    return n;
}
