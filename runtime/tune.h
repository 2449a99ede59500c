/* tune.h: choosing among the configurations of a kernel. */
#ifndef TILE_TUNE_H
#define TILE_TUNE_H

#include "runtime.h"

/* What a choice is for. */
typedef struct tile_question {
    const tile_kernel *kernel;
    uint32_t first;   /* specialisation of the row */
    uint32_t variant; /* of the first configuration, which the arguments get */
    int device;       /* a GPU's ordinal */
    uint32_t class_count;
    int64_t classes[TILE_MAX_PARAMETERS]; /* of the integer arguments */
} tile_question;

/* Launches a configuration of the row with the arguments of the call at hand. */
typedef tile_status tile_trial_function(void *call, uint32_t configuration);

typedef struct tile_trial {
    const tile_question *question;
    const tile_driver *driver;
    tile_stream stream;
    const void *const *arguments;
    uint64_t *spans; /* one a parameter: bytes that the kernel uses of a pointer's memory */
    tile_trial_function *launch;
    void *call;
} tile_trial;

/* ---- tune.c ---------------------------------------------------------------------------------- */

/* What tile_set_tuning, else TILE_TUNE says. Errors: TILE_ERROR_ARGUMENT. */
tile_status tile_tuning_mode(tile_tuning *out);
void tile_ask(tile_question *question, const void *const *arguments);
/* What was chosen before, by any thread: without a lock. 0: nothing. */
int tile_tune_known(const tile_question *question, uint32_t *choice);
/* Chooses now, by measuring if it must, in a scope of the stream. Fails only where the device does.
 */
tile_status tile_tune(const tile_trial *trial, uint32_t *choice);
void tile_log(const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 1, 2)))
#endif
    ;
const tile_specialisation *tile_configuration(const tile_question *question, uint32_t index);

/* ---- measure.c ------------------------------------------------------------------------------- */

/* The time of each configuration on the call's arguments, which are afterwards as they were;
 * negative for one that does not run. *unfit is why they cannot be run, or NULL. */
tile_status tile_measure(const tile_trial *trial, double *nanoseconds, const char **unfit);

/* ---- tune_file.c ----------------------------------------------------------------------------- */

/* The choice that was kept for the question. Whatever is wrong with the file: there is none. */
int tile_tune_read(const tile_question *question, const tile_driver *driver, uint32_t *choice);
void tile_tune_write(const tile_question *question, const tile_driver *driver, uint32_t choice,
                     const double *nanoseconds);

#endif
