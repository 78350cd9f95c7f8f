/* plan: predicted times.
 *
 *   list        pieces * seconds of a piece
 *   sieve       every rank reads its whole stretch, copies its pieces out of it
 *   two-phase   x, the exchange: copies into staging, bytes over the network, messages
 *               w, file access: whole windows where the request is dense, merged pieces where not
 *               x + w - what the pipeline hides of the shorter one + agreement
 *
 * Reads of bytes that are not in the page cache (the summary's `cold`) cost what the device takes
 * besides.  That is known from direct reads.  What several ranks want, or what lies in one page, it
 * reads once:
 *
 *   list        a request for each piece; over holes smaller than a page the kernel reads ahead
 *   sieve       the extent once
 *   two-phase   the windows, or pieces, as above
 *
 * Seconds of a piece are straight lines between the measured sizes.  Between one rank and all that
 * were measured, bandwidth is a straight line too; more ranks than that do not make it faster.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "plan/cost.h"

/* Candidates this close are equal. */
static const double NEARLY = 1.02;

/* Fewer aggregators (method root: one) or larger windows than usual must be better by this much: what
 * profiles say of them is noisier than what they say of methods. */
static const double CLEARLY = 1.1;

/* Holes of this size are read along where most of the extent is wanted, and written over. */
static const tutti_off USUAL_GAP = 32 << 10;

static const double PAGE = 4096;

/* Finding out which bytes of a window are named, in copies of 64 bytes per piece. */
static const double UNION_COPIES = 4;

/* ---- curves: seconds of a piece by its size -------------------------------------------------- */

typedef struct {
    int n;
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

static void curve_add(curve *c, double size, double rate) {
    c->size[c->n] = size;
    c->seconds[c->n++] = size / rate;
}

static curve curve_of(double r64, double r512, double r4k, double r64k, double r1m) {
    curve c = {.n = 0};
    if (r64 > 0) curve_add(&c, 64, r64);
    if (r512 > 0) curve_add(&c, 512, r512);
    curve_add(&c, 4096, r4k);
    curve_add(&c, 65536, r64k);
    curve_add(&c, 1048576, r1m);
    return c;
}

/* ---- what the model works with --------------------------------------------------------------- */

typedef struct {
    const tutti__cost_case *c;
    const tutti_profile *p;
    double bytes, extent, pieces, piece, density;
    double crowd;          /* ranks for each core, against when it was measured */
    double cores;          /* that work at once, on all nodes */
    double measured_ranks; /* all of them */
    double measured_cores;
    curve one, all;               /* file access in pieces */
    curve tiny_one, tiny_all;     /* pieces that direct_io does not take */
    curve device_one, device_all; /* what reads take besides that are not cached */
    double staged_512k, staged_4m;
    curve copy;
    int cold;
    double gap; /* holes of this size are read along */
} model;

static double less(double a, double b) {
    return a < b ? a : b;
}

static double more(double a, double b) {
    return a > b ? a : b;
}

static curve cached_curve(const tutti_profile *p, int is_write, int one) {
    if (is_write && one)
        return curve_of(p->write_one_64, p->write_one_512, p->write_one_4k, p->write_one_64k,
                        p->write_one_1m);
    if (is_write)
        return curve_of(p->write_all_64, p->write_all_512, p->write_all_4k, p->write_all_64k,
                        p->write_all_1m);
    if (one)
        return curve_of(p->read_one_64, p->read_one_512, p->read_one_4k, p->read_one_64k,
                        p->read_one_1m);
    return curve_of(p->read_all_64, p->read_all_512, p->read_all_4k, p->read_all_64k,
                    p->read_all_1m);
}

static curve direct_curve(const tutti_profile *p, int is_write, int one) {
    if (is_write && one)
        return curve_of(0, 0, p->direct_write_one_4k, p->direct_write_one_64k,
                        p->direct_write_one_1m);
    if (is_write)
        return curve_of(0, 0, p->direct_write_all_4k, p->direct_write_all_64k,
                        p->direct_write_all_1m);
    if (one)
        return curve_of(0, 0, p->direct_read_one_4k, p->direct_read_one_64k, p->direct_read_one_1m);
    return curve_of(0, 0, p->direct_read_all_4k, p->direct_read_all_64k, p->direct_read_all_1m);
}

static void model_files(model *m) {
    const tutti_profile *p = m->p;
    const int w = m->c->is_write, direct = m->c->opt->direct_io;
    m->tiny_one = cached_curve(p, w, 1);
    m->tiny_all = cached_curve(p, w, 0);
    m->one = direct ? direct_curve(p, w, 1) : m->tiny_one;
    m->all = direct ? direct_curve(p, w, 0) : m->tiny_all;
    m->cold = m->c->s->cold && !w && !direct;
    m->device_one = direct_curve(p, 0, 1);
    m->device_all = direct_curve(p, 0, 0);
    if (direct) {
        m->staged_512k = w ? p->direct_staged_write_512k : p->direct_staged_read_512k;
        m->staged_4m = w ? p->direct_staged_write_4m : p->direct_staged_read_4m;
    } else {
        m->staged_512k = w ? p->staged_write_512k : p->staged_read_512k;
        m->staged_4m = w ? p->staged_write_4m : p->staged_read_4m;
    }
}

/* Seconds a piece, counted over all of `clients` ranks, from those of one and those of all that
 * were measured. */
static double among(const model *m, double one, double all, double clients) {
    if (clients <= 1 || m->measured_ranks <= 1) return clients <= 1 ? one : all;
    const double part = (less(clients, m->measured_ranks) - 1) / (m->measured_ranks - 1);
    return 1 / (1 / one + part * (1 / all - 1 / one));
}

/* The device reads whole pages. */
static double device_seconds(const model *m, double size, double clients) {
    return among(m, curve_at(&m->device_one, size), curve_at(&m->device_all, size), clients);
}

/* One request more, against bytes that are read in a long one. */
static tutti__gap gap_of(const model *m) {
    const tutti__cost_case *c = m->c;
    tutti__gap g = {.bytes = c->opt->sieve_gap};
    if (g.bytes > 0) return g;
    const double clients = (double)c->s->ranks, large = 1 << 20;
    if (m->cold) {
        g.seconds = device_seconds(m, PAGE, clients);
        g.bytes = (tutti_off)(g.seconds * large / device_seconds(m, large, clients));
    } else {
        g.seconds = among(m, m->one.seconds[0], m->all.seconds[0], clients);
        g.bytes =
            (tutti_off)(g.seconds * large /
                        among(m, curve_at(&m->one, large), curve_at(&m->all, large), clients));
    }
    g.dense = m->density >= 0.5 && g.bytes < USUAL_GAP;
    if (c->is_write || g.dense) g.bytes = USUAL_GAP;
    return g;
}

static model model_of(const tutti__cost_case *c) {
    const tutti__summary *s = c->s;
    const tutti_profile *p = c->profile;
    model m = {.c = c, .p = p};
    m.bytes = (double)s->bytes;
    m.extent = (double)s->hi - (double)s->lo;
    m.piece = more((double)s->run, 1); /* the rank with the shortest pieces takes longest */
    m.pieces = m.bytes / m.piece;
    m.density = less(m.bytes / m.extent, 1);
    m.cores = less((double)c->largest, p->cores) * (double)c->groups;
    m.cores = less(m.cores, (double)c->ranks);
    m.measured_ranks = p->ranks * p->nodes;
    m.measured_cores = less(p->ranks, p->cores) * p->nodes;
    m.crowd = more((double)c->largest / p->cores, 1) / more(p->ranks / p->cores, 1);
    m.copy = curve_of(p->copy_64, p->copy_512, p->copy_4k, p->copy_4k, p->copy_4k);
    model_files(&m);
    m.gap = (double)gap_of(&m).bytes;
    return m;
}

tutti__gap tutti__cost_gap(const tutti__cost_case *c) {
    const model m = model_of(c);
    return gap_of(&m);
}

/* Steps of a tree of n ranks. */
static double steps(double n) {
    int k = 1;
    while (k < 30 && (double)((tutti_off)1 << k) < n) k++;
    return k;
}

static double vote_seconds(const model *m) {
    if (m->c->ranks == 1) return 0;
    return m->p->vote * steps(m->c->ranks) / steps(m->measured_ranks) * m->crowd;
}

/* Letters to all aggregators that a rank reaches, and a vote. */
static double planning(const model *m, int aggregators) {
    const double latency = m->c->groups > 1 ? m->p->net_latency : m->p->message_latency;
    return latency * m->crowd * (double)aggregators + vote_seconds(m);
}

/* ---- file access ----------------------------------------------------------------------------- */

/* Seconds a piece, counted over all of `clients` ranks that access the file at once. */
static double piece_seconds(const model *m, double size, double clients) {
    const int tiny = size < m->one.size[0];
    const double one = curve_at(tiny ? &m->tiny_one : &m->one, size);
    const double all = curve_at(tiny ? &m->tiny_all : &m->all, size);
    return among(m, one, all, clients);
}

/* What the device takes for a stretch of the file, read in requests of that size. */
static double stream_seconds(const model *m, double bytes, double size, double clients) {
    return m->cold ? bytes / size * device_seconds(m, size, clients) : 0;
}

/* ... for pieces: no more of them than the extent has room for. */
static double fetch_seconds(const model *m, double clients) {
    const double pieces = less(m->bytes, m->extent) / m->piece;
    return m->cold ? pieces * device_seconds(m, m->piece, clients) : 0;
}

static double hole_of(const model *m) {
    return more((m->extent - m->bytes) / m->pieces, 0);
}

static double list_seconds(const model *m) {
    const double ranks = (double)m->c->s->ranks;
    double t = m->pieces * piece_seconds(m, m->piece, ranks);
    t += hole_of(m) < PAGE ? stream_seconds(m, m->extent, 1 << 20, ranks) : fetch_seconds(m, ranks);
    if (m->c->is_write && m->c->s->ranks > 1) t += planning(m, m->c->ranks);
    return t;
}

/* One call for each piece, where list passes many at a time. */
static double independent_seconds(const model *m) {
    return list_seconds(m) * NEARLY;
}

static double copy_seconds(const model *m, double bytes, double cores) {
    return bytes / m->piece * curve_at(&m->copy, m->piece) / cores;
}

/* Each rank goes through a stretch of its own; where ranks interleave, that is all of the extent.  To
 * write, it reads and writes it, one rank after the other. */
static double sieve_seconds(const model *m) {
    const double ranks = (double)m->c->s->ranks, most = (double)m->c->opt->sieve_size;
    const double stretch = less(m->extent * ranks, m->pieces * most), size = less(most, 1 << 20);
    const double clients = m->c->is_write ? 1 : ranks;
    const double file = stretch / size * piece_seconds(m, size, clients);
    if (!m->c->is_write)
        return file + copy_seconds(m, m->bytes, m->cores) +
               stream_seconds(m, less(stretch, m->extent), size, clients);
    return 2 * file + copy_seconds(m, m->bytes, 1) + planning(m, m->c->ranks);
}

/* File access alone, seconds a byte: what copies of 4 KiB pieces and whole windows took by all ranks
 * that were measured, without the copies. */
static double window_seconds(const model *m, double window, double aggregators) {
    const double lo = 512 << 10, hi = 4 << 20;
    double staged = m->staged_512k;
    if (window >= hi)
        staged = m->staged_4m;
    else if (window > lo)
        staged += (m->staged_4m - staged) * ((window - lo) / (hi - lo));
    const double whole = 1 / staged, copies = 1 / (m->p->copy_4k * m->measured_cores);
    const double part =
        piece_seconds(m, window, aggregators) / piece_seconds(m, window, m->measured_ranks);
    const double call = piece_seconds(m, 1, aggregators) / window; /* matters in small windows */
    return more(whole - copies, whole / 10) * part + call;
}

/* Pieces in parts of their own are cheaper than interleaved ones as long as they share pages. */
static double own_seconds(const model *m, double size, double aggregators) {
    const double t = piece_seconds(m, size, aggregators);
    if (!m->c->is_write || size >= 4096 || aggregators <= 1) return t;
    const double gain = less(m->p->write_all_512 / m->p->write_own_512, 1);
    if (size <= 512) return t * gain;
    return t * (gain + (1 - gain) * (size - 512) / (4096 - 512));
}

static double named_seconds(const model *m) {
    return m->pieces * UNION_COPIES * m->copy.seconds[0];
}

static double write_windows(const model *m, double window, double aggregators) {
    const double dense = m->bytes * window_seconds(m, window, aggregators);
    if (m->density >= 1) return dense;
    /* neighbours join as often as chance has it */
    const double runs = m->pieces * (1 - m->density);
    const double run = m->bytes / runs;
    return more(dense, runs * own_seconds(m, less(run, window), aggregators) *
                           (run > window ? run / window : 1)) +
           named_seconds(m) / less(aggregators, m->cores);
}

static double read_windows(const model *m, double window, double aggregators) {
    const double named = m->density < 0.5 ? named_seconds(m) / less(aggregators, m->cores) : 0;
    if (hole_of(m) <= m->gap)
        return m->extent * window_seconds(m, window, aggregators) + named +
               stream_seconds(m, m->extent, window, aggregators);
    return m->pieces * piece_seconds(m, m->piece, aggregators) + named +
           fetch_seconds(m, aggregators);
}

/* ---- exchange -------------------------------------------------------------------------------- */

typedef struct {
    double total;
    double sent; /* bytes that leave a node */
} exchange_cost;

static double rate_of(const model *m, int exchange, int inside) {
    const double messages = inside ? m->p->message_bandwidth : m->p->net_bandwidth;
    if (exchange == TUTTI_EXCHANGE_TWO_SIDED || m->p->put_bandwidth <= 0) return messages;
    return inside ? m->p->put_bandwidth : less(messages, m->p->put_bandwidth);
}

/* Ranks of a node gather in shared memory; what belongs to other nodes goes there once. */
static exchange_cost exchange_shm(const model *m, double cycles) {
    const double groups = m->c->groups, away = m->bytes * (groups - 1) / groups;
    exchange_cost x = {copy_seconds(m, m->bytes, m->cores), away / groups};
    if (groups <= 1) return x;
    x.total += away / (m->p->copy_4k * m->cores) + x.sent / m->p->net_bandwidth;
    x.total += cycles * (groups - 1) * m->p->net_latency * m->crowd;
    return x;
}

/* From rank to rank: packed, sent, unpacked, whether they share a node or not. */
static exchange_cost exchange_ranks(const model *m, int exchange, double cycles) {
    const double ranks = m->c->ranks, mates = m->c->largest, groups = m->c->groups;
    const double inside = m->bytes * (mates - 1) / ranks,
                 outside = m->bytes * (ranks - mates) / ranks;
    const double pairs = more(less(mates, m->p->cores) / 2, 1) * groups;
    exchange_cost x = {2 * copy_seconds(m, m->bytes, m->cores), outside / groups};
    x.total += inside / (rate_of(m, exchange, 1) * pairs);
    x.total += x.sent / rate_of(m, exchange, 0);
    if (exchange == TUTTI_EXCHANGE_FENCE)
        x.total += 2 * cycles * m->p->fence * m->crowd;
    else if (exchange == TUTTI_EXCHANGE_LOCK)
        x.total += 2 * cycles * m->p->lock * m->crowd;
    else
        x.total += cycles * m->crowd *
                   ((mates - 1) * m->p->message_latency + (ranks - mates) * m->p->net_latency);
    return x;
}

/* ---- two-phase ------------------------------------------------------------------------------- */

static int store_overlaps(const tutti__cost_case *c, double *share_out, double *cost_out) {
    const tutti_profile *p = c->profile;
    const int direct = c->opt->direct_io, uring = c->opt->store == TUTTI_STORE_URING;
    *share_out = *cost_out = 0;
    if (!uring && c->opt->store != TUTTI_STORE_THREADS && c->opt->store != TUTTI_STORE_AIO)
        return 0;
    if (uring)
        *share_out = direct ? p->direct_overlap_uring : p->overlap_uring;
    else
        *share_out = direct ? p->direct_overlap_threads : p->overlap_threads;
    *cost_out = uring ? p->async_uring : p->async_threads;
    return 1;
}

/* What a pipeline makes of exchange and file access.  Where both go by the network, its bandwidth
 * bounds what overlaps. */
static double pipeline_seconds(const model *m, int pipeline, const exchange_cost *x, double file,
                               double cycles) {
    double share, cost;
    const double sum = x->total + file;
    (void)store_overlaps(m->c, &share, &cost);
    if (pipeline == TUTTI_PIPELINE_NONE || pipeline == TUTTI_PIPELINE_COMM) share = 0;
    if (m->c->opt->sub_buffers == 1) share = 0;
    if (pipeline == TUTTI_PIPELINE_WRITE_COMM) share *= 0.95; /* each cycle waits for both */
    const double hidden = cycles > 1 ? share * less(x->total, file) * (cycles - 1) / cycles : 0;
    const double t = sum - hidden + cycles * cost;
    if (!m->p->remote || m->c->groups <= 1) return t;
    const double through = x->sent + m->bytes / (double)m->c->groups;
    return more(t, less(through / m->p->net_bandwidth, sum));
}

static double two_phase_seconds(const model *m, const tutti__candidate *k) {
    const double a = k->aggregators, window = (double)k->window;
    const double moved = m->c->is_write ? m->bytes : more(m->bytes, m->extent);
    /* cycles with bytes */
    const double rounds = more(less(moved / window, m->pieces + m->bytes / window) / a, 1);
    const exchange_cost x = k->exchange == TUTTI_EXCHANGE_SHM
                                ? exchange_shm(m, rounds)
                                : exchange_ranks(m, k->exchange, rounds);
    const double full = less(window, moved / a);
    const double file = m->c->is_write ? write_windows(m, full, a) : read_windows(m, full, a);
    const double t = pipeline_seconds(m, k->pipeline, &x, file, rounds) +
                     rounds * m->p->message_latency * m->crowd + planning(m, k->aggregators);
    return k->method == TUTTI_METHOD_ROOT ? CLEARLY * t : t;
}

/* ---- candidates ------------------------------------------------------------------------------ */

/* Is it done cycle by cycle? */
static int is_literal(const tutti__cost_case *c, int exchange) {
    if (exchange == TUTTI_EXCHANGE_TWO_SIDED) return c->opt->step > 0;
    return exchange == TUTTI_EXCHANGE_FENCE || exchange == TUTTI_EXCHANGE_LOCK;
}

/* One is enough without overlap; but unless somebody wants it so, it is not larger for that: what
 * overlaps has several of them under way. */
static int window_slots_of(const tutti__cost_case *c, int pipeline) {
    const tutti_options *o = c->opt;
    if (pipeline != TUTTI_PIPELINE_NONE) return o->sub_buffers;
    return o->pipeline == TUTTI_PIPELINE_NONE || o->window_size > 0 ? 1 : o->sub_buffers;
}

/* Buffers of a window's size that a rank needs, as two_phase_plan.c counts them. */
static int buffers_of(const tutti__cost_case *c, const tutti__candidate *k) {
    const int window_slots = window_slots_of(c, k->pipeline);
    const int step = k->exchange == TUTTI_EXCHANGE_TWO_SIDED ? c->opt->step : 0;
    if (is_literal(c, k->exchange)) return c->buffers(k->exchange, step, window_slots);
    const int remote = k->exchange == TUTTI_EXCHANGE_SHM ? c->groups > 1 : c->ranks > 1;
    return remote ? 2 * (window_slots + 2) : window_slots;
}

/* What fits into the memory of a node. */
static tutti_off window_fit(const tutti__cost_case *c, const tutti__candidate *k,
                            tutti_off wanted) {
    const tutti_off room = c->opt->cb_buffer_size / ((tutti_off)c->largest * buffers_of(c, k));
    return tutti__max(tutti__min(wanted, room), 4096);
}

tutti_off tutti__cost_least(const tutti__cost_case *c, tutti_off window) {
    const model m = model_of(c);
    const curve *one = &m.one;
    const double best = one->size[one->n - 1] / one->seconds[one->n - 1];
    int i = 0;
    while (one->size[i] / one->seconds[i] < 0.8 * best) i++;
    return tutti__max(c->align, tutti__min(window, 4 * (tutti_off)one->size[i]));
}

/* All ranks that have enough to do; unless an option says how many. */
static int aggregators_most(const tutti__cost_case *c, tutti_off window) {
    if (c->opt->cb_nodes > 0) return c->opt->cb_nodes < c->ranks ? c->opt->cb_nodes : c->ranks;
    /* from a device, holes come along, or requests wait for it side by side */
    const tutti_off moved = c->s->cold ? tutti__max(c->s->bytes, c->s->hi - c->s->lo) : c->s->bytes;
    const tutti_off worth = tutti__max(moved / tutti__cost_least(c, window), 1);
    return worth < c->ranks ? (int)worth : c->ranks;
}

/* The best number of aggregators for a window: all, or fewer, as long as bandwidth is raised. */
static void try_aggregators(const model *m, tutti__candidate k, tutti__candidate *best) {
    const tutti__cost_case *c = m->c;
    const int most = k.method == TUTTI_METHOD_ROOT ? 1 : aggregators_most(c, k.window);
    const int fixed = c->opt->cb_nodes > 0 || k.method == TUTTI_METHOD_ROOT;
    for (int a = most; a >= 1; a = a > c->groups && a / 2 < c->groups ? c->groups : a / 2) {
        k.aggregators = a;
        k.seconds = two_phase_seconds(m, &k);
        if (best->aggregators == 0 || k.seconds * CLEARLY < best->seconds) *best = k;
        if (fixed) return;
    }
}

static void try_windows(const model *m, tutti__candidate k, tutti__candidate *best) {
    static const tutti_off sizes[] = {512 << 10, 4 << 20, 64 << 20};
    const tutti__cost_case *c = m->c;
    const int fixed = c->opt->window_size > 0;
    for (int i = c->striped && !fixed ? 2 : 0; i < 3; i++) {
        const tutti_off window = window_fit(c, &k, fixed ? c->opt->window_size : sizes[i]);
        if (window == k.window) continue;
        k.window = window;
        try_aggregators(m, k, best);
        if (fixed) return;
    }
}

typedef struct {
    const model *m;
    int n;
    tutti__candidate *out;
} collector;

static void add(collector *l, tutti__candidate k) {
    if (l->n < TUTTI__CANDIDATES) l->out[l->n++] = k;
}

/* Cycle by cycle there is nothing to overlap with a single sub-buffer. */
static int pipeline_asked(const tutti__cost_case *c, int exchange) {
    if (c->opt->sub_buffers == 1 && is_literal(c, exchange)) return TUTTI_PIPELINE_NONE;
    return c->opt->pipeline;
}

static void add_staged(collector *l, int method, int exchange) {
    static const int pipelines[] = {TUTTI_PIPELINE_WRITE_COMM_2, TUTTI_PIPELINE_WRITE_COMM,
                                    TUTTI_PIPELINE_WRITE, TUTTI_PIPELINE_COMM, TUTTI_PIPELINE_NONE};
    const int asked = pipeline_asked(l->m->c, exchange);
    double share, cost;
    const int asynchronous = store_overlaps(l->m->c, &share, &cost);
    for (int i = 0; i < 5; i++) {
        tutti__candidate best = {.aggregators = 0};
        const int in_between =
            pipelines[i] == TUTTI_PIPELINE_WRITE || pipelines[i] == TUTTI_PIPELINE_WRITE_COMM;
        if (asked != TUTTI_PIPELINE_AUTO ? asked != pipelines[i] : in_between && !asynchronous)
            continue;
        try_windows(
            l->m,
            (tutti__candidate){.method = method, .exchange = exchange, .pipeline = pipelines[i]},
            &best);
        add(l, best);
    }
}

/* Can this exchange be asked for, or is it known what it costs?  Steps are those of messages. */
static int exchange_possible(const tutti__cost_case *c, int exchange) {
    if (c->opt->exchange != TUTTI_EXCHANGE_AUTO) return c->opt->exchange == exchange;
    if (c->opt->step > 0) return exchange == TUTTI_EXCHANGE_TWO_SIDED;
    if (exchange == TUTTI_EXCHANGE_FENCE) return c->profile->fence > 0 && c->ranks > 1;
    if (exchange == TUTTI_EXCHANGE_LOCK) return c->profile->lock > 0 && c->ranks > 1;
    return 1;
}

static void add_method(collector *l, int method) {
    tutti__candidate k = {.method = method};
    if (method == TUTTI_METHOD_TWO_PHASE || method == TUTTI_METHOD_ROOT) {
        for (int x = TUTTI_EXCHANGE_SHM; x <= TUTTI_EXCHANGE_LOCK; x++)
            if (exchange_possible(l->m->c, x)) add_staged(l, method, x);
        return;
    }
    if (method == TUTTI_METHOD_LIST)
        k.seconds = list_seconds(l->m);
    else if (method == TUTTI_METHOD_SIEVE)
        k.seconds = sieve_seconds(l->m);
    else
        k.seconds = independent_seconds(l->m);
    add(l, k);
}

/* Writes of one node through its page cache exclude each other in the kernel, while copies into staging memory do not. */
static int writers_wait(const tutti__cost_case *c) {
    return c->is_write && c->largest > 1 && !c->opt->direct_io && !(c->profile->remote > 0);
}

#define LONG ((tutti_off)1 << 20)

/* Long pieces go straight from the user's memory: the option direct_run says what is long.  Unless it does, the model
 * decides where writers would wait for each other. */
static int goes_straight(const tutti__cost_case *c) {
    if (c->opt->direct_run > 0) return c->s->run >= c->opt->direct_run;
    return c->s->run >= LONG && !writers_wait(c);
}

static int method_possible(const tutti__cost_case *c, int method) {
    const int staged = method == TUTTI_METHOD_TWO_PHASE || method == TUTTI_METHOD_ROOT;
    if (method == TUTTI_METHOD_SIEVE) return !c->is_write || c->may_sieve;
    return !staged || !goes_straight(c);
}

static int method_asked(const tutti__cost_case *c) {
    if (!c->is_write && c->opt->method_read != TUTTI_METHOD_AUTO) return c->opt->method_read;
    return c->opt->method;
}

/* By time, the one to take first. */
static void sort(tutti__candidate *k, int n) {
    double least = k[0].seconds;
    int first = 0;
    for (int i = 1; i < n; i++) least = less(least, k[i].seconds);
    while (k[first].seconds > least * NEARLY) first++;
    const tutti__candidate taken = k[first];
    for (int i = first; i > 0; i--) k[i] = k[i - 1];
    k[0] = taken;
    for (int i = 2; i < n; i++) {
        const tutti__candidate x = k[i];
        int at = i;
        for (; at > 1 && k[at - 1].seconds > x.seconds; at--) k[at] = k[at - 1];
        k[at] = x;
    }
}

int tutti__cost_candidates(const tutti__cost_case *c, tutti__candidate out[TUTTI__CANDIDATES]) {
    static const int order[] = {TUTTI_METHOD_LIST, TUTTI_METHOD_SIEVE, TUTTI_METHOD_TWO_PHASE,
                                TUTTI_METHOD_ROOT, TUTTI_METHOD_INDEPENDENT};
    const int asked = method_asked(c);
    const model m = model_of(c);
    collector l = {&m, 0, out};
    if (c->s->bytes <= 0) {
        out[0] =
            (tutti__candidate){.method = asked == TUTTI_METHOD_AUTO ? TUTTI_METHOD_LIST : asked};
        return 1;
    }
    for (int i = 0; i < 5; i++)
        if (asked == order[i] || (asked == TUTTI_METHOD_AUTO && method_possible(c, order[i])))
            add_method(&l, order[i]);
    sort(out, l.n);
    return l.n;
}
