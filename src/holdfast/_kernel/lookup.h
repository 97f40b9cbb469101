/* Sums over rows whose features are looked up in tables, or are mostly 0: the declarations that Python (cffi) reads.
 * A row is one cell per column. Whatever is linear in its features needs one number per cell: see lookup.c. */
#ifndef HOLDFAST_LOOKUP_H
#define HOLDFAST_LOOKUP_H
#include <stddef.h>
#include <stdint.h>

enum hf_lookup_loss { HF_LOOKUP_LOGISTIC, HF_LOOKUP_SOFTMAX, HF_LOOKUP_SQUARED };

/* Which numbers a row looks up. All cells lie behind each other: those of the columns, then those of the pairs. */
typedef struct {
    size_t columns;
    const int64_t *first_cell;    /* of each column */
    const int64_t *column_cells;  /* how many each has; a code beyond them counts as the last */
    const uint8_t *level;         /* for each cell of a column, its level in pairs */
    size_t pairs;
    const int32_t *left;          /* the two columns of each pair */
    const int32_t *right;
    const int64_t *pair_cell;     /* its first cell; the others follow by level of left, then of right */
    int64_t levels;               /* of right: the stride of a pair's cells */
    size_t outputs;               /* K scores per row */
} hf_lookup;

/* Scores: constant[k] + the sum over the row's cells of table[cell * (K + 1) + k]. `at` holds columns + pairs numbers. */
void hf_lookup_scores(const hf_lookup *o, const uint16_t *codes, size_t rows, const double *table,
                      const double *constant, int64_t *at, double *out);

/* The clipped gradient, cell by cell, in whole multiples of a public grid: exact, whatever the order of rows. The last
 * entry of a cell's table row is the squared length of its features; the constant's is 1. `out` has K per cell, then K
 * for the constant; `work` has K entries. */
void hf_lookup_gradient(const hf_lookup *o, int32_t loss, const uint16_t *codes, size_t rows, const double *labels,
                        const double *table, const double *constant, double clip, double steps_per_unit,
                        int64_t *at, double *work, int64_t *out);

/* Rows of which most numbers are 0, one-hot above all: their other numbers, row after row, and which column each is
 * of. Row i has those from first[i] up to first[i + 1]. */
typedef struct {
    size_t rows, columns;
    const int64_t *first;
    const uint16_t *column;
    const double *value;
} hf_gathered;

/* Numbers other than 0, written down; how many, or -1 where there is room for fewer. */
int64_t hf_gather(const double *rows, size_t count, size_t columns, size_t stride, int64_t room, int64_t *first,
                  uint16_t *column, double *value);

/* <x, w> for each row. */
void hf_gathered_products(const hf_gathered *o, const double *weights, double *out);

/* x^T F x for each row, F being (columns, columns). */
void hf_gathered_forms(const hf_gathered *o, const double *form, double *out);

/* The sum of a x, block by block; `part` has as many entries as `out`. */
void hf_gathered_sum(const hf_gathered *o, const double *a, size_t block, double *part, double *out);

/* The upper triangle of the sum of t^2 x x^T, block by block. */
void hf_gathered_gram(const hf_gathered *o, const double *t, size_t block, double *part, double *out);

#endif
