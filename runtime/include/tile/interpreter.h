/* interpreter.h: libtilec runs host code whose kernels are launched by someone else.
 *
 *     tilec_interpreter *host;
 *     char *answer;
 *     tilec_open(&options, &host, &answer);
 *     tilec_run(host, "import __core__ as core", NULL, 0, &answer);
 *     tilec_run(host, "kernel(array(0), 3)", tensors, 1, &answer);
 *
 * Statements of the language are evaluated in one scope; arrays of the caller's are known by their
 * DLTensors, of which the data is not looked at. A kernel that is called is compiled, for the GPUs
 * that were named or for the emulator, and the call is told of, so that the caller may launch it,
 * now and later, on arrays like these. It is a binding's other half: see python/. */
#ifndef TILE_INTERPRETER_H
#define TILE_INTERPRETER_H

#include <tile/dlpack.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tilec_interpreter tilec_interpreter;

typedef struct tilec_options {
    uint32_t abi_version;     /* TILE_ABI_VERSION */
    uint32_t compute_count;   /* no GPUs: the emulator */
    const uint32_t *computes; /* 90 for capability 9.0 */
    const void *emulator;     /* the address of tile_the_emulator, or NULL */
    const char *const *words; /* as of a command line: "-O2", "-DN=3", "--cache=FOLDER" */
    uint32_t word_count;
} tilec_options;

/* NULL words of an answer: there was no memory for it. Any number of interpreters may be at work,
 * each for one thread at a time. The answer is the caller's, for tilec_free. */
TILE_API tile_status tilec_open(const tilec_options *options, tilec_interpreter **out,
                                char **answer);
/* Answers in JSON:
 *   "messages"  the compiler's, as tilec shows them
 *   "exception" what Python calls the first error among them, if it has a name for it
 *   "printed"   what the statements printed
 *   "values"    what they gave to give(...), one a call: numbers, texts, lists, null; of an array
 *               {"array": number}, of an element type {"dtype": "float16"}; of anything else
 *               {"kind": "function"}
 *   "results"   arrays that launches make, with the numbers behind those of the caller's arrays:
 *               {"dtype": TILE_DTYPE, "shape": [...]}
 *   "built"     kernels that were compiled without a call: {"kernel": address of its tile_kernel,
 *               "name": ...}
 *   "launches"  {"kernel": address of its tile_kernel, "name": ..., "arguments": [...]}, an
 *               argument being {"array": number}, {"bits": the value's bits}, or of a text {"text":
 *               ...}, as tile_launch takes them
 *   "memory"    bytes that the interpreter holds: what was evaluated stays until it is closed, and
 *               what is evaluated may take 2 GB
 * TILE_ERROR_ARGUMENT: an error is among the messages, and the interpreter is of no use any more,
 * as is one whose compiler broke off (TILE_ERROR_NO_SPECIALISATION). Kernels live as long as the
 * process. */
TILE_API tile_status tilec_run(tilec_interpreter *interpreter, const char *statements,
                               const DLTensor *const *arrays, uint32_t array_count, char **answer);
TILE_API void tilec_close(tilec_interpreter *interpreter);
TILE_API void tilec_free(char *answer);

#ifdef __cplusplus
}
#endif

#endif
