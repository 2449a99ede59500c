/* arrays.h: the arrays of tile.host: strided views of device memory, computed with on the CPU. */
#ifndef TILEC_COMMAND_ARRAY_ARRAYS_H
#define TILEC_COMMAND_ARRAY_ARRAYS_H

#include "eval/host.h"

enum { ARRAY_RANK = 8 };

/* Whose manners an array has: how it prints, what a product's type is. The results of operators
 * take after their operands. */
typedef enum ArrayFamily { FAMILY_TILE, FAMILY_NUMPY, FAMILY_TORCH } ArrayFamily;

typedef struct Array {
    DType dtype;
    ArrayFamily family;
    bool on_host; /* as the program has it: what goes from there to a GPU, or back, is a copy */
    int rank;
    int64_t shape[ARRAY_RANK];
    int64_t strides[ARRAY_RANK]; /* elements; may be 0 or negative */
    int64_t offset;              /* of element 0, in elements from the storage's start */
    char *storage;               /* tile_alloc'd; shared by views; NULL: a shape alone */
    struct Array *grad;          /* of its shape: where its gradient is added to; or NULL */
} Array;

/* One element: integers of every width and sign in i, floats in f (which is exact for all float
 * types). */
typedef union Element {
    int64_t i;
    double f;
} Element;

/* All elements in row-major order, on the CPU. */
typedef struct Elements {
    Element *items;
    int64_t count;
} Elements;

/* What array functions share; allocations live as long as the run. */
typedef struct ArrayContext {
    Session *session;
    Arena *arena;
    Span at;          /* for messages */
    bool shapes_only; /* arrays are made without elements: what needs them fails, in silence */
} ArrayContext;

int64_t array_count(const Array *array);
bool array_is_contiguous(const Array *array);
/* What is made of arrays, of which some may be NULL, has the manners of the last family among them,
 * and is on the host if all of them are. */
void array_take_after(Array *array, int count, const Array *const *models);
/* Device memory of that shape, unwritten. NULL: reported. */
Array *array_new(ArrayContext *context, DType dtype, int rank, const int64_t *shape);
Array *array_view(ArrayContext *context, const Array *array); /* a copy of the descriptor */
char *array_data(const Array *array);                         /* address of element 0 */

/* ---- what arrays hold, on the CPU: bytes and elements in row-major order ---- */
void *bytes_new(int64_t count, int size); /* malloc'd, never NULL */
/* A view's bytes, packed; malloc'd, to be freed by the caller. Waits for the device. NULL:
 * reported. */
char *array_bytes(ArrayContext *context, const Array *array);
bool array_store(ArrayContext *context, const Array *array, const char *bytes);
/* Elements of an array; malloc'd, to be freed by the caller. Waits for the device. False: reported.
 */
bool array_read(ArrayContext *context, const Array *array, Elements *out);
bool array_write(ArrayContext *context, const Array *array, const Elements *elements);
Array *array_from_elements(ArrayContext *context, DType dtype, int rank, const int64_t *shape,
                           const Elements *elements);

/* ---- elements.c ---- */
Element element_decode(DType dtype, const void *bytes);
void element_encode(DType dtype, Element element, void *bytes);
/* As Python writes integers and bools; floats with 9 digits. */
enum { ELEMENT_TEXT = 32 };
void element_text(DType dtype, Element element, char text[ELEMENT_TEXT]);
/* A number as an array of that type has it, floats in arrays of integers toward zero. False: the
 * integers of the type do not have it. */
bool element_of(DType dtype, const HostValue *number, Element *out);
double element_number(DType dtype, Element element);
/* Many at once; bytes are aligned as the type wants it. */
void elements_decode(DType dtype, const char *bytes, int64_t count, Element *out);
void elements_encode(DType dtype, const Element *elements, int64_t count, char *bytes);
/* In place: integers and floats become what `to` has. */
void elements_convert(DType from, DType to, int64_t count, Element *elements);

/* The shape that two shapes broadcast to, as NumPy's rule; false: reported. */
bool shape_broadcast(ArrayContext *context, int a_rank, const int64_t *a, int b_rank,
                     const int64_t *b, int *rank, int64_t *shape);
/* A view of `array` stretched to that shape. */
Array *array_broadcast(ArrayContext *context, const Array *array, int rank, const int64_t *shape);

/* ---- ops.c: operators, as eval/host.h asks for them ---- */
/* element_of, which reports what the type does not have. */
bool array_element(ArrayContext *context, DType dtype, const HostValue *number, Element *out);
HostStatus array_binary(ArrayContext *context, const char *op, const HostValue *left,
                        const HostValue *right, HostValue *result);
HostStatus array_unary(ArrayContext *context, const char *op, const HostValue *operand,
                       HostValue *result);
/* The elements of `a`, or a number, where the condition is not zero, else of `b`; all three are
 * stretched to one shape. NULL: reported. */
Array *array_select(ArrayContext *context, const Array *condition, const HostValue *a,
                    const HostValue *b);
/* The greater and the lesser of two, where a NaN stays, as in numpy and torch. */
double number_greater(double a, double b);
double number_less(double a, double b);
/* Puts a number or an array, stretched, into a view. False: reported. */
bool array_assign(ArrayContext *context, const Array *view, const HostValue *value);
Array *array_cast(ArrayContext *context, const Array *array, DType dtype);

/* ---- multiply.c ---- */
/* The product of matrices, vectors or stacks of matrices, by numpy's rule, summed in f64, or as
 * integers where they are wide: of tile.host an f64, else of the operands' type; into `out` if
 * there is one. NULL: reported. */
Array *array_multiply(ArrayContext *context, const Array *a, const Array *b, Array *out);

/* ---- elementwise.c ---- */
/* A function of each element; false: there is none of that name. */
bool array_apply(ArrayContext *context, const char *name, const Array *array, Array **result);

/* ---- fold.c ---- */
bool array_fold_exists(const char *name);
bool array_fold_needs_element(const char *name);
/* A reduction, without the axis, or a scan. NULL: reported. */
Array *array_fold(ArrayContext *context, const char *name, const Array *array, int axis);

/* ---- order.c; NULL: reported ---- */
/* The places, int64, of a line's elements in their order; equal ones stay as they were. */
Array *array_argsort(ArrayContext *context, const Array *array, int axis, bool descending);
/* Of the places' shape, which is the array's but along the axis. */
Array *array_gather(ArrayContext *context, const Array *array, const Array *positions, int axis);

/* ---- array/items.c: subscripts ---- */
HostStatus array_get_item(ArrayContext *context, const HostValue *array, const HostValue *index,
                          HostValue *result);
HostStatus array_set_item(ArrayContext *context, const HostValue *array, const HostValue *index,
                          const HostValue *value);
/* The number that an array of one element holds; integers of 2^63 and more are reported. */
HostStatus array_number(ArrayContext *context, const Array *array, HostValue *result);

/* ---- array/print.c ---- */
void array_repr(ArrayContext *context, const Array *array, Buf *out);

/* ---- functions.c: the functions of tile.host ---- */
bool array_function_exists(const char *name);
const char *array_function_name(size_t index); /* NULL: there are no more */
HostStatus array_call(ArrayContext *context, const HostCall *call, HostValue *result);

/* ---- array/methods.c ---- */
HostStatus array_attribute(ArrayContext *context, const Array *array, const char *name,
                           HostValue *result);

/* ---- npy.c: NumPy's file format, version 1.0 to 3.0, C order ---- */
Array *npy_load(ArrayContext *context, const char *path);
bool npy_save(ArrayContext *context, const char *path, const Array *array);

#endif
