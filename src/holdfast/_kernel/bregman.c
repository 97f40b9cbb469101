/* Gradients and Bregman gaps of a sum of losses (soundness notes, section 11).
 *
 * The gap of row i between two points is loss(p + u) - loss(p) - slope(p) u >= 0, p its prediction at the first point
 * and u the change: what a proposal from the tangent's envelope must be accepted by. Arithmetic is IEEE double; sums
 * over rows are plain in blocks of 64 and compensated from block to block (Neumaier 1974). */
#include "bregman.h"
#include <math.h>
#include <string.h>

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "bregman.c needs IEEE arithmetic: fast-math removes the compensation of sums"
#endif

enum { BLOCK = 64, LANES = 4 };

static double dense_product(const double *w, const double *x, size_t d)
{
    double p[LANES] = {0};
    size_t j = 0;

    for (; j + LANES <= d; j += LANES) {
        p[0] += w[j] * x[j];
        p[1] += w[j + 1] * x[j + 1];
        p[2] += w[j + 2] * x[j + 2];
        p[3] += w[j + 3] * x[j + 3];
    }
    for (; j < d; j++)
        p[j % LANES] += w[j] * x[j];
    return (p[0] + p[1]) + (p[2] + p[3]);
}

/* <w, x_i> */
static double product(const hf_rows *data, const double *w, size_t i)
{
    double total = 0;
    int64_t e;

    if (data->columns == NULL)
        return dense_product(w, data->values + i * data->dimension, data->dimension);
    for (e = data->starts[i]; e < data->starts[i + 1]; e++)
        total += w[data->columns[e]] * data->values[e];
    return total;
}

/* 1 / (1 + e^m) without overflow */
static double below(double m)
{
    double e = exp(-fabs(m));

    return (m >= 0 ? e : 1.0) / (1.0 + e);
}

/* The smoothed hinge at the margin m: 0, a parabola, or 1 - m. */
static double hinge(double m, double width)
{
    double gap = 1.0 - m;

    if (gap >= width)
        return gap;
    return gap <= -width ? 0.0 : (gap + width) * (gap + width) / (4.0 * width);
}

static double hinge_slope(double m, double width)
{
    double ramp = (1.0 - m + width) / (2.0 * width);

    return -(ramp < 0 ? 0.0 : ramp > 1 ? 1.0 : ramp);
}

static double huber(double e, double width)
{
    double size = fabs(e);

    return size <= width ? 0.5 * e * e : width * (size - 0.5 * width);
}

static double huber_slope(double e, double width)
{
    return e > width ? width : e < -width ? -width : e;
}

/* ln(1 + e^m) */
static double softplus(double m)
{
    return (m > 0 ? m : 0.0) + log1p(exp(-fabs(m)));
}

/* The gap of ln(1 + e^-m) along t >= 0; that of ln(1 + e^m) is the same, a line apart, and has no number near 1 in its
 * logarithm where m < 0. */
static double logistic_gap(double m, double t)
{
    double q = below(fabs(m));

    if (m >= 0)
        return q * t + log1p(q * expm1(-t));
    return (t < 1 ? log1p(q * expm1(t)) : softplus(m + t) - softplus(m)) - q * t;
}

static double slope(const hf_rows *data, size_t i, double p)
{
    double y = data->labels[i];

    if (data->loss == HF_GAP_LOGISTIC)
        return -y * below(y * p);
    if (data->loss == HF_GAP_HINGE)
        return y * hinge_slope(y * p, data->width);
    return huber_slope(p - y, data->width);
}

static double gap(const hf_rows *data, size_t i, double p, double u)
{
    double y = data->labels[i], value;

    if (data->loss == HF_GAP_LOGISTIC) {
        value = y * u >= 0 ? logistic_gap(y * p, y * u) : logistic_gap(-y * p, -y * u);
    } else if (data->loss == HF_GAP_HINGE) {
        double m = y * p, t = y * u;

        value = hinge(m + t, data->width) - hinge(m, data->width) - hinge_slope(m, data->width) * t;
    } else {
        double e = p - y;

        value = huber(e + u, data->width) - huber(e, data->width) - huber_slope(e, data->width) * u;
    }
    return value > 0 ? value : 0;
}

/* total + carry <- total + carry + term */
static void add_exactly(double *total, double *carry, double term)
{
    double sum = *total + term;

    *carry += fabs(*total) >= fabs(term) ? (*total - sum) + term : (term - sum) + *total;
    *total = sum;
}

void hf_gap_gradient(const hf_rows *data, const double *w, double *predictions, double *sum, double *block,
                     double *carry)
{
    size_t d = data->dimension, i, j, start;

    memset(sum, 0, d * sizeof *sum);
    memset(carry, 0, d * sizeof *carry);
    for (start = 0; start < data->rows; start += BLOCK) {
        size_t stop = start + BLOCK < data->rows ? start + BLOCK : data->rows;

        memset(block, 0, d * sizeof *block);
        for (i = start; i < stop; i++) {
            double c;

            predictions[i] = product(data, w, i);
            c = slope(data, i, predictions[i]);
            if (data->columns == NULL) {
                const double *restrict x = data->values + i * d;
                double *restrict g = block;

                for (j = 0; j < d; j++)
                    g[j] += c * x[j];
            } else {
                int64_t e;

                for (e = data->starts[i]; e < data->starts[i + 1]; e++)
                    block[data->columns[e]] += c * data->values[e];
            }
        }
        for (j = 0; j < d; j++)
            add_exactly(sum + j, carry + j, block[j]);
    }
    for (j = 0; j < d; j++)
        sum[j] += carry[j];
}

double hf_gap_sum(const hf_rows *data, const double *predictions, const double *v)
{
    double total = 0, carry = 0;
    size_t i;

    for (i = 0; i < data->rows; i++)
        add_exactly(&total, &carry, gap(data, i, predictions[i], product(data, v, i)));
    return total + carry;
}

int hf_gap_thinned(const hf_rows *data, const double *predictions, const double *v, double bound, double until,
                   const uint64_t *words, size_t n_words, double *clock, size_t *used)
{
    uint64_t n = data->rows;
    /* Words above the last whole multiple of n would favour the first rows: such a meeting does not count. */
    uint64_t last = UINT64_MAX - (UINT64_MAX % n + 1) % n;
    size_t at;

    for (at = 0; at + 3 <= n_words; at += 3) {
        size_t i;

        if (words[at + 1] > last)
            continue;
        *clock -= log(((double)(words[at] >> 11) + 1.0) * 0x1p-53);
        if (*clock > until) {
            *used = at + 3;
            return HF_PASSED;
        }
        i = (size_t)(words[at + 1] % n);
        if ((double)(words[at + 2] >> 11) * 0x1p-53 * bound < gap(data, i, predictions[i], product(data, v, i))) {
            *used = at + 3;
            return HF_FIRED;
        }
    }
    *used = at;
    return HF_MORE_WORDS;
}
