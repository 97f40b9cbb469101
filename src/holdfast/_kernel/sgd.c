/* Permutation SGD with clipped rows (soundness notes, sections 1 and 16).
 *
 *     w <- Proj_R[ (1 - eta_t lambda) w - (eta_t / b) * sum over the batch of grad loss(w; x, y) ]
 *
 * The divisor is b for every batch, the short last one included, and no batch has more than b rows:
 * the sensitivity proof needs both. A batch is closed by row count alone, and a row that is not
 * finite still takes its place (with gradient zero), so no record ever moves another one.
 *
 * Arithmetic is IEEE double in one fixed order: inner products run in four lanes (index modulo 4)
 * folded as (0+1)+(2+3); the gradient is summed row by row. Compile without fast-math and with
 * -ffp-contract=off, and every machine with the same exp() gives the same bits. */
#include "sgd.h"
#include <math.h>
#include <string.h>

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "sgd.c needs IEEE arithmetic: fast-math lets a NaN pass the clipping"
#endif

/* Squared norms in this range lost nothing that matters to over- or underflow. */
#define SAFE_LOW 1e-200
#define SAFE_HIGH 1e200
#define MAX_DIMENSION ((size_t)1 << 24)

enum { WEIGHTS, GRADIENT, AVERAGE, ROW, ARRAYS };
enum { LANES = 4, AHEAD = 8, CACHE_LINE = 64 };

#if defined(__GNUC__) && !defined(HF_PLAIN_C) /* two lanes per instruction, and a hint; the same bits */
#define HF_PAIRS
typedef double pair __attribute__((vector_size(16), aligned(8), may_alias));
#define PREFETCH(address) __builtin_prefetch(address)
#else
#define PREFETCH(address) ((void)(address))
#endif

/* <w, x> and ||x||^2 in one reading of x. Both branches add the same numbers in the same order. */
static void products(const double *w, const double *x, size_t d, double *inner, double *square)
{
    double p[LANES] = {0}, s[LANES] = {0};
    size_t j = 0;

#ifdef HF_PAIRS
    pair p0 = {0, 0}, p1 = {0, 0}, s0 = {0, 0}, s1 = {0, 0};

    for (; j + LANES <= d; j += LANES) {
        pair x0 = *(const pair *)(x + j), x1 = *(const pair *)(x + j + 2);
        p0 += *(const pair *)(w + j) * x0;
        p1 += *(const pair *)(w + j + 2) * x1;
        s0 += x0 * x0;
        s1 += x1 * x1;
    }
    memcpy(p, &p0, sizeof p0);
    memcpy(p + 2, &p1, sizeof p1);
    memcpy(s, &s0, sizeof s0);
    memcpy(s + 2, &s1, sizeof s1);
#endif
    for (; j < d; j++) {
        p[j % LANES] += w[j] * x[j];
        s[j % LANES] += x[j] * x[j];
    }
    *inner = (p[0] + p[1]) + (p[2] + p[3]);
    *square = (s[0] + s[1]) + (s[2] + s[3]);
}

/* g <- g + c x */
static void add_scaled(double *restrict g, double c, const double *restrict x, size_t d)
{
    size_t j;

    for (j = 0; j < d; j++)
        g[j] += c * x[j];
}

/* out = x / max|x_j|, entries in [-1, 1]; returns max|x_j|, or NaN if an entry is not finite. */
static double to_unit_size(const double *x, size_t d, double *out)
{
    double largest = 0;
    size_t j;

    for (j = 0; j < d; j++) {
        if (!isfinite(x[j]))
            return NAN;
        largest = fmax(largest, fabs(x[j]));
    }
    for (j = 0; j < d; j++)
        out[j] = largest > 0 ? x[j] / largest : 0;
    return largest;
}

/* The clipped row is factor * u. u is x itself, or scratch where x is so large or small that its
 * square is not. Returns the factor, or NaN for a row that is not finite; *inner is <w, u>. */
static double clipped(const double *w, const double *x, size_t d, double row_norm, double *scratch,
                      const double **u, double *inner)
{
    double square, size = 1, limit;

    *u = x;
    products(w, x, d, inner, &square);
    if (!(square >= SAFE_LOW && square <= SAFE_HIGH)) { /* also where it is NaN */
        size = to_unit_size(x, d, scratch);
        if (!(size > 0))
            return size; /* the zero row, or NaN */
        *u = scratch;
        products(w, scratch, d, inner, &square);
    }
    /* ||x|| = size * sqrt(square), compared without overflow. In four lanes the square is within
     * (d/4 + 3) 2^-53 relative, so at d <= MAX_DIMENSION the clipped norm is <= row_norm (1 + 1e-9). */
    limit = row_norm / sqrt(square);
    return size < limit ? size : limit;
}

int hf_clip(const double *x, size_t d, double row_norm, double *out)
{
    double inner, factor;
    const double *u;
    size_t j;

    factor = clipped(x, x, d, row_norm, out, &u, &inner);
    for (j = 0; j < d; j++)
        out[j] = factor > 0 ? factor * u[j] : 0;
    return isnan(factor) ? HF_REJECTED : HF_OK;
}

/* The loss's derivative in the margin <w, x>. Its size is at most 1 for the two classifiers, whose
 * labels count by their sign alone, and at most X R + Y for the squared loss. */
static double derivative(const hf_sgd_options *o, double margin, double y)
{
    double sign = y > 0 ? 1 : -1, slope;

    switch (o->loss) {
    case HF_LOGISTIC: /* log(1 + exp(-sign * margin)) */
        return -sign / (1 + exp(sign * margin));
    case HF_HUBER: /* the hinge, rounded off for |1 - sign * margin| <= h */
        slope = (1 + o->width - sign * margin) / (2 * o->width);
        return -sign * (slope < 0 ? 0 : slope > 1 ? 1 : slope);
    default: /* (margin - y)^2 / 2 */
        return margin - (y > o->label_bound ? o->label_bound : y < -o->label_bound ? -o->label_bound : y);
    }
}

/* Project on the ball; HF_DIVERGED where the norm is not a number any more. */
static int project(double *w, size_t d, double radius)
{
    double square, norm;
    size_t j;

    products(w, w, d, &square, &square);
    norm = sqrt(square);
    if (!isfinite(norm))
        return HF_DIVERGED;
    if (norm > radius)
        for (j = 0; j < d; j++)
            w[j] *= radius / norm;
    return HF_OK;
}

static int close_batch(hf_sgd *s)
{
    const hf_sgd_options *o = &s->options;
    size_t d = o->dimension, j;
    double eta, shrink, rate;

    if (o->steps && s->step >= o->n_steps)
        return s->status = HF_NO_STEP;
    s->step++;
    eta = o->steps ? o->steps[s->step - 1] : fmin(o->step_cap, o->step_scale / (o->step_offset + (double)s->step));
    shrink = 1 - eta * o->penalty;
    rate = eta / (double)o->batch; /* b, however many rows came */
    for (j = 0; j < d; j++)
        s->weights[j] = shrink * s->weights[j] - rate * s->gradient[j];
    memset(s->gradient, 0, d * sizeof(double));
    s->rows = 0;
    s->status = project(s->weights, d, o->radius);
    if (o->average_from > 0 && s->step >= o->average_from) {
        add_scaled(s->average, 1, s->weights, d);
        s->averaged++;
    }
    return s->status;
}

size_t hf_sgd_workspace(size_t dimension)
{
    return ARRAYS * dimension;
}

/* Refuses what would make a proof false whatever the data; written so that NaN is refused too. */
static int admissible(const hf_sgd_options *o)
{
    int formula = o->step_cap > 0 && o->step_scale > 0 && o->step_offset >= 0 &&
                  (isfinite(o->step_cap) || isfinite(o->step_scale));

    return o->dimension > 0 && o->dimension <= MAX_DIMENSION && o->batch > 0 &&
           o->row_norm >= 1e-100 && o->row_norm <= 1e100 &&
           o->penalty >= 0 && isfinite(o->penalty) && o->radius > 0 && o->average_from >= 0 &&
           (o->steps ? o->n_steps >= 0 : formula) &&
           (o->loss == HF_LOGISTIC || (o->loss == HF_HUBER && o->width > 0 && isfinite(o->width)) ||
            (o->loss == HF_SQUARED && isfinite(o->radius) && o->label_bound > 0 && isfinite(o->label_bound)));
}

int hf_sgd_initialise(hf_sgd *s, const hf_sgd_options *options, const double *weights, double *workspace)
{
    size_t d = options->dimension;

    if (!admissible(options))
        return HF_BAD_OPTION;
    memset(s, 0, sizeof *s);
    memset(workspace, 0, hf_sgd_workspace(d) * sizeof(double));
    s->options = *options;
    s->weights = workspace + WEIGHTS * d;
    s->gradient = workspace + GRADIENT * d;
    s->average = workspace + AVERAGE * d;
    s->row = workspace + ROW * d;
    if (weights)
        memcpy(s->weights, weights, d * sizeof(double));
    return s->status = project(s->weights, d, options->radius);
}

int hf_sgd_transition(hf_sgd *s, const double *x, double y)
{
    const hf_sgd_options *o = &s->options;
    size_t d = o->dimension;
    double factor, inner, slope;
    const double *u;
    int status = HF_OK;

    if (s->status != HF_OK)
        return s->status;
    factor = clipped(s->weights, x, d, o->row_norm, s->row, &u, &inner);
    if (isnan(factor) || !isfinite(y)) {
        status = HF_REJECTED;
        s->rejected++;
    } else if (factor > 0) {
        slope = derivative(o, factor * inner, y) * factor;
        add_scaled(s->gradient, slope, u, d);
    }
    if (++s->rows == o->batch && close_batch(s) != HF_OK)
        return s->status;
    return status;
}

/* A row at a random place is a cache miss for each of its lines: ask for them early. A row rarely begins
 * where a line does, so its last entry is often on one line more than its size says. */
static void ask_for(const double *x, size_t d, const double *y)
{
    size_t j;

    for (j = 0; j < d; j += CACHE_LINE / sizeof(double))
        PREFETCH(x + j);
    PREFETCH(x + d - 1);
    PREFETCH(y);
}

int hf_sgd_rows(hf_sgd *s, const double *x, size_t stride, const double *y, const int64_t *order, size_t n)
{
    int64_t rejected = s->rejected;
    size_t i, at;

    for (i = 0; i < n && s->status == HF_OK; i++) {
        if (order && i + AHEAD < n) {
            at = (size_t)order[i + AHEAD];
            ask_for(x + at * stride, s->options.dimension, y + at);
        }
        at = order ? (size_t)order[i] : i;
        hf_sgd_transition(s, x + at * stride, y[at]);
    }
    return s->status != HF_OK ? s->status : s->rejected > rejected ? HF_REJECTED : HF_OK;
}

int hf_sgd_end_pass(hf_sgd *s)
{
    return s->status == HF_OK && s->rows > 0 ? close_batch(s) : s->status;
}

int hf_sgd_final(hf_sgd *s, double *out)
{
    size_t d = s->options.dimension, j;
    int status = hf_sgd_end_pass(s);

    for (j = 0; j < d; j++)
        out[j] = status != HF_OK ? 0 : s->averaged > 0 ? s->average[j] / (double)s->averaged : s->weights[j];
    return status;
}
