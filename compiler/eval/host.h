/* host.h: what running host code needs: arrays, functions of tile.host, launches. An interface that
 * the driver fills; the evaluator calls it for `tilec run` alone and knows nothing of devices.
 *
 * Values cross as plain HostValues. What a HostValue points to (text, items, arrays) belongs to who
 * made it: the evaluator copies text and items that it is given before it calls again; arrays are
 * opaque, made by the host and kept by it until the run ends. */
#ifndef TILEC_EVAL_HOST_H
#define TILEC_EVAL_HOST_H

#include "ir/ir.h"

typedef enum HostKind {
    HOST_NONE,
    HOST_BOOL,     /* integer: 0 or 1 */
    HOST_INT,      /* integer */
    HOST_UNSIGNED, /* integer: the bits of one from 2**63 on */
    HOST_FLOAT,    /* number */
    HOST_TEXT,     /* text, length */
    HOST_DTYPE,    /* dtype */
    HOST_ARRAY,    /* array */
    HOST_TUPLE,    /* items, count */
    HOST_LIST,     /* items, count */
    HOST_SLICE,    /* items[3]: start, stop, step; HOST_NONE where not written */
    HOST_ELLIPSIS, /* `...` in a subscript */
    HOST_FUNCTION, /* function: something that HostCall.invoke can call */
} HostKind;

typedef struct HostValue HostValue;
struct HostValue {
    HostKind kind;
    DType dtype;
    int64_t integer;
    double number;
    const char *text; /* NUL-terminated */
    size_t length;
    void *array;
    const HostValue *items;
    int count;
    void *function; /* the evaluator's own */
};

bool value_is_number(const HostValue *value); /* or a bool */
double value_number(const HostValue *number);
/* A number as a parameter of a kernel gets it, in the low bytes of `cell`: a bool is 0 or 1, and an
 * integer is none that the type lacks. False: reported (DIAG_argument_kind, DIAG_argument_range).
 */
bool value_encode(Session *session, Span at, const char *parameter, DType dtype,
                  const HostValue *value, uint64_t *cell);

typedef enum HostStatus {
    HOST_OK,
    HOST_UNKNOWN, /* there is no such thing: not reported, the evaluator says what was asked for */
    HOST_FAILED,  /* reported to the session */
} HostStatus;

typedef struct HostCall HostCall;
struct HostCall {
    const char *name;           /* of the function, as `find` was asked */
    const HostValue *arguments; /* positional ones; of a method, the array comes first */
    int argument_count;
    const char *const *names; /* of keyword arguments */
    const HostValue *named;
    int named_count;
    Span at; /* the call, for messages */
    /* Calls a HOST_FUNCTION without arguments (a lambda given to `time`). False: reported. */
    bool (*invoke)(const HostCall *call, const HostValue *function, HostValue *result);
    void *evaluator; /* for invoke */
};

typedef struct HostLaunch {
    /* TYPED; the same pointer for the same specialisation, kept until program_free. */
    Kernel *kernel;
    /* One a parameter of the kernel, keys included: numbers and arrays. What is given for a
     * result's pointer counts for nothing. */
    const HostValue *arguments;
    HostValue *results; /* filled: one array a result of the kernel */
    /* Of a kernel that is staged for its gradient, which is launched: the arrays of the gradients
     * of what its pointers point to, and of its results; of what it overwrote it then is zero, if
     * it consumes, but in what is retained (names with spaces between). `each`: one for each array
     * among the arguments, or none (HOST_NONE). */
    const HostValue *gradients;
    int gradient_count;
    bool consumes, each;
    const char *retained;
    Span at;
} HostLaunch;

/* What an array is, for kernels that take its shape. */
typedef struct HostArray {
    DType dtype;
    int rank;
    int64_t shape[8], strides[8]; /* strides in elements */
} HostArray;

/* Operators are given as their text: "+", "//", "==", "-", "~". One operand at least is an
 * array. */
struct Host {
    bool asserts_nothing; /* what the program asserts is not looked at */
    bool surveys; /* statements of host code that fail are left out, with what depends on them */
    /* Whether tile.host has a function of that name; methods of arrays are named "array.sum". */
    bool (*find)(struct Host *host, const char *name);
    /* The functions of tile.host by their numbers, from 0 on; NULL: there are no more. */
    const char *(*name)(struct Host *host, size_t index);
    HostStatus (*call)(struct Host *host, const HostCall *call, HostValue *result);
    HostStatus (*binary)(struct Host *host, const char *op, const HostValue *left,
                         const HostValue *right, Span at, HostValue *result); /* comparisons too */
    HostStatus (*unary)(struct Host *host, const char *op, const HostValue *operand, Span at,
                        HostValue *result);
    /* index: an int, a slice, `...`, None, or a tuple of them. */
    HostStatus (*get_item)(struct Host *host, const HostValue *array, const HostValue *index,
                           Span at, HostValue *result);
    HostStatus (*set_item)(struct Host *host, const HostValue *array, const HostValue *index,
                           const HostValue *value, Span at);
    HostStatus (*attribute)(struct Host *host, const HostValue *array, const char *name, Span at,
                            HostValue *result); /* shape, dtype, ... */
    void (*describe)(struct Host *host, const void *array, HostArray *out);
    HostStatus (*truth)(struct Host *host, const HostValue *array, Span at, bool *result);
    void (*repr)(struct Host *host, const HostValue *array, Buf *out);
    /* Makes the code of a kernel now rather than when it is launched first. */
    HostStatus (*build)(struct Host *host, Kernel *kernel);
    /* So many of several are built, for someone who watches. */
    void (*progress)(struct Host *host, size_t done, size_t total);
    /* Waits, or orders later reads after it. */
    HostStatus (*launch)(struct Host *host, const HostLaunch *launch);
    /* What print() writes, newline included. */
    void (*print)(struct Host *host, const char *text, size_t length);
};

#endif
