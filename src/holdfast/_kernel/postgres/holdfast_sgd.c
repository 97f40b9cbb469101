/* Permutation SGD as a PostgreSQL aggregate: the kernel of sgd.c, fed by the executor one row at a time.
 *
 *     holdfast.sgd_epochs(plan bytea, pass integer, key bytea, x real[], y double precision)
 *
 * or with x double precision[]. The plan holds everything public (holdfast.data._engines.postgres_plan) and is read
 * at the first row. Rows must come pass by pass and, where keys are given, in strictly increasing order of the key
 * within a pass: that is checked row by row, so an order never rests on what the planner happened to choose. A row
 * that is missing, of a wrong length or not finite ends the query with an error, and nothing is returned; no message
 * holds a value of a row. The clipping, the divisor b and the short last batch are those of sgd.c. */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include <math.h>
#include <string.h>

/* Hidden, so that a backend that has loaded an older build never mixes the two. */
#pragma GCC visibility push(hidden)
#include "../sgd.c"
#pragma GCC visibility pop

PG_MODULE_MAGIC;

#ifndef HOLDFAST_VERSION
#error "HOLDFAST_VERSION must be given: the digest of the sources"
#endif

/* The plan: doubles in this order, then d weights, d sums of the average, and the steps. */
enum {
    PLAN_FORMAT, PLAN_DIMENSION, PLAN_BATCH, PLAN_LOSS, PLAN_WIDTH, PLAN_LABEL_BOUND, PLAN_ROW_NORM,
    PLAN_PENALTY, PLAN_RADIUS, PLAN_STEP_CAP, PLAN_STEP_SCALE, PLAN_STEP_OFFSET, PLAN_AVERAGE_FROM,
    PLAN_AVERAGED, PLAN_CONTINUED, PLAN_STEPS, PLAN_HEADER
};
/* The answer: these, then d weights and d sums of the average. */
enum { MADE_STEPS, MADE_ROWS, MADE_PASSES, MADE_AVERAGED, MADE_HEADER };

#define FORMAT 20260101.0 /* also shows whether both sides write doubles alike */
#define MOST_KEY 64

#define BAD_PLAN MAKE_SQLSTATE('Z', 'H', '0', '0', '1')
#define NOT_FINITE MAKE_SQLSTATE('Z', 'H', '0', '0', '2')
#define WRONG_LENGTH MAKE_SQLSTATE('Z', 'H', '0', '0', '3')
#define OUT_OF_ORDER MAKE_SQLSTATE('Z', 'H', '0', '0', '4')
#define TOO_MANY_ROWS MAKE_SQLSTATE('Z', 'H', '0', '0', '5')
#define DIVERGED MAKE_SQLSTATE('Z', 'H', '0', '0', '6')

#define FAIL(code, text) ereport(ERROR, (errcode(code), errmsg("holdfast: " text)))

typedef struct {
    hf_sgd sgd;
    double *x; /* a row of real numbers, widened */
    int64 rows;
    int32 pass;
    int32 passes;
    bool keyed;
    int key_size; /* of the row before in this pass; -1 before its first */
    unsigned char key[MOST_KEY];
} epochs;

static int64
whole(double value, double most)
{
    if (!(value >= 0 && value <= most && value == floor(value)))
        FAIL(BAD_PLAN, "the plan holds a number that is not a whole one in range");
    return (int64)value;
}

/* Everything is allocated in the aggregate's memory context and is let go with it. */
static epochs *
started(bytea *plan, MemoryContext context)
{
    size_t size = VARSIZE_ANY_EXHDR(plan), count = size / sizeof(double), d, n;
    MemoryContext before;
    hf_sgd_options options;
    double *p, *weights, *average;
    epochs *e;

    if (size % sizeof(double) != 0 || count < PLAN_HEADER)
        FAIL(BAD_PLAN, "the plan is too short");
    before = MemoryContextSwitchTo(context);
    p = palloc(size);
    memcpy(p, VARDATA_ANY(plan), size);
    if (p[PLAN_FORMAT] != FORMAT)
        FAIL(BAD_PLAN, "the plan is of another version or byte order");
    d = (size_t)whole(p[PLAN_DIMENSION], MAX_DIMENSION);
    n = (size_t)whole(p[PLAN_STEPS], 1e9);
    if (d == 0 || count != PLAN_HEADER + 2 * d + n)
        FAIL(BAD_PLAN, "the plan's size and its dimension do not agree");
    weights = p + PLAN_HEADER;
    average = weights + d;

    memset(&options, 0, sizeof options);
    options.dimension = d;
    options.batch = whole(p[PLAN_BATCH], 1e15);
    options.loss = (int32_t)whole(p[PLAN_LOSS], HF_SQUARED);
    options.width = p[PLAN_WIDTH];
    options.label_bound = p[PLAN_LABEL_BOUND];
    options.row_norm = p[PLAN_ROW_NORM];
    options.penalty = p[PLAN_PENALTY];
    options.radius = p[PLAN_RADIUS];
    options.step_cap = p[PLAN_STEP_CAP];
    options.step_scale = p[PLAN_STEP_SCALE];
    options.step_offset = p[PLAN_STEP_OFFSET];
    options.steps = n > 0 ? average + d : NULL;
    options.n_steps = (int64_t)n;
    options.average_from = whole(p[PLAN_AVERAGE_FROM], 1e15);

    e = palloc0(sizeof(epochs));
    e->x = palloc(d * sizeof(double));
    e->pass = -1;
    e->key_size = -1;
    if (hf_sgd_initialise(&e->sgd, &options, weights, palloc(hf_sgd_workspace(d) * sizeof(double))) != HF_OK)
        FAIL(BAD_PLAN, "the kernel refused the plan");
    if (p[PLAN_CONTINUED] != 0) { /* bit for bit where the passes before ended: no second projection */
        memcpy(e->sgd.weights, weights, d * sizeof(double));
        memcpy(e->sgd.average, average, d * sizeof(double));
        e->sgd.averaged = whole(p[PLAN_AVERAGED], 1e15);
    }
    MemoryContextSwitchTo(before);
    return e;
}

static void
refuse(int status)
{
    if (status == HF_REJECTED)
        FAIL(NOT_FINITE, "a row or a label is missing or not finite");
    if (status == HF_NO_STEP)
        FAIL(TOO_MANY_ROWS, "the passes have more rows than the plan has steps for");
    if (status != HF_OK)
        FAIL(DIVERGED, "the weights are not finite any more");
}

/* Passes follow each other, and keys grow within a pass. */
static void
in_order(epochs *e, int32 pass, bytea *key)
{
    int size = key == NULL ? -1 : (int)VARSIZE_ANY_EXHDR(key), common, compared;

    if (e->pass < 0)
        e->keyed = key != NULL;
    if (pass < 0 || pass < e->pass || e->keyed != (key != NULL) || size > MOST_KEY)
        FAIL(OUT_OF_ORDER, "passes or keys are out of order");
    if (pass != e->pass) {
        refuse(hf_sgd_end_pass(&e->sgd));
        e->pass = pass;
        e->passes++;
        e->key_size = -1;
    }
    if (key == NULL)
        return;
    if (e->key_size >= 0) {
        common = Min(size, e->key_size);
        compared = memcmp(e->key, VARDATA_ANY(key), common);
        if (compared > 0 || (compared == 0 && e->key_size >= size))
            FAIL(OUT_OF_ORDER, "rows must come in the order of their keys: sort the subquery");
    }
    e->key_size = size;
    memcpy(e->key, VARDATA_ANY(key), size);
}

/* The row as doubles: where it lies, or widened into e->x. */
static const double *
row_of(epochs *e, ArrayType *array)
{
    size_t d = e->sgd.options.dimension, j;
    const float4 *narrow;

    if (ARR_NDIM(array) != 1 || ARR_DIMS(array)[0] < 0 || (size_t)ARR_DIMS(array)[0] != d)
        ereport(ERROR, (errcode(WRONG_LENGTH), errmsg("holdfast: every row must be an array of %zu numbers", d)));
    if (array_contains_nulls(array))
        refuse(HF_REJECTED);
    if (ARR_ELEMTYPE(array) == FLOAT8OID)
        return (const double *)ARR_DATA_PTR(array);
    if (ARR_ELEMTYPE(array) != FLOAT4OID)
        FAIL(WRONG_LENGTH, "rows must be real[] or double precision[]");
    narrow = (const float4 *)ARR_DATA_PTR(array);
    for (j = 0; j < d; j++)
        e->x[j] = narrow[j];
    return e->x;
}

PG_FUNCTION_INFO_V1(holdfast_sgd_transition);

Datum
holdfast_sgd_transition(PG_FUNCTION_ARGS)
{
    MemoryContext context;
    epochs *e;

    if (!AggCheckCallContext(fcinfo, &context))
        FAIL(BAD_PLAN, "this function is part of an aggregate");
    CHECK_FOR_INTERRUPTS();
    if (PG_ARGISNULL(0)) {
        if (PG_ARGISNULL(1))
            FAIL(BAD_PLAN, "the plan must not be NULL");
        e = started(PG_GETARG_BYTEA_PP(1), context);
    } else
        e = (epochs *)PG_GETARG_POINTER(0);
    in_order(e, PG_ARGISNULL(2) ? -1 : PG_GETARG_INT32(2), PG_ARGISNULL(3) ? NULL : PG_GETARG_BYTEA_PP(3));
    if (PG_ARGISNULL(4) || PG_ARGISNULL(5))
        refuse(HF_REJECTED);
    refuse(hf_sgd_transition(&e->sgd, row_of(e, PG_GETARG_ARRAYTYPE_P(4)), PG_GETARG_FLOAT8(5)));
    e->rows++;
    PG_RETURN_POINTER(e);
}

PG_FUNCTION_INFO_V1(holdfast_sgd_final);

Datum
holdfast_sgd_final(PG_FUNCTION_ARGS)
{
    epochs *e;
    size_t d, j, count;
    Datum *made;

    if (!AggCheckCallContext(fcinfo, NULL))
        FAIL(BAD_PLAN, "this function is part of an aggregate");
    if (PG_ARGISNULL(0))
        PG_RETURN_NULL(); /* no row came */
    e = (epochs *)PG_GETARG_POINTER(0);
    refuse(hf_sgd_end_pass(&e->sgd));
    d = e->sgd.options.dimension;
    count = MADE_HEADER + 2 * d;
    made = palloc(count * sizeof(Datum));
    made[MADE_STEPS] = Float8GetDatum((double)e->sgd.step);
    made[MADE_ROWS] = Float8GetDatum((double)e->rows);
    made[MADE_PASSES] = Float8GetDatum((double)e->passes);
    made[MADE_AVERAGED] = Float8GetDatum((double)e->sgd.averaged);
    for (j = 0; j < d; j++) {
        made[MADE_HEADER + j] = Float8GetDatum(e->sgd.weights[j]);
        made[MADE_HEADER + d + j] = Float8GetDatum(e->sgd.average[j]);
    }
#if PG_VERSION_NUM >= 160000
    PG_RETURN_ARRAYTYPE_P(construct_array_builtin(made, (int)count, FLOAT8OID));
#else
    PG_RETURN_ARRAYTYPE_P(construct_array(made, (int)count, FLOAT8OID, 8, FLOAT8PASSBYVAL, 'd'));
#endif
}

PG_FUNCTION_INFO_V1(holdfast_version);

Datum
holdfast_version(PG_FUNCTION_ARGS)
{
    PG_RETURN_TEXT_P(cstring_to_text(HOLDFAST_VERSION));
}
