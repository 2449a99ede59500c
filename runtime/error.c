/* error.c: the text of a thread's last failure, and the names of statuses. */
#include "runtime.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char last_error[sizeof(((tile_text *)0)->bytes)];

tile_status tile_error(tile_status status, const char *format, ...)
{
    /* Formatted apart, since an argument may be tile_last_error() itself. */
    char text[sizeof last_error];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    memcpy(last_error, text, strlen(text) + 1);
    return status;
}

const char *tile_last_error(void)
{
    return last_error;
}

void tile_text_add(tile_text *text, const char *format, ...)
{
    const size_t room = sizeof text->bytes - text->used;
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text->bytes + text->used, room, format, arguments);
    va_end(arguments);
    if (length > 0) text->used += (size_t)length < room ? (size_t)length : room - 1;
}

static const char *own_name(tile_status status)
{
    switch (status) {
    case TILE_OK: return "TILE_OK";
    case TILE_ERROR_NO_DRIVER: return "TILE_ERROR_NO_DRIVER";
    case TILE_ERROR_NO_IMAGE: return "TILE_ERROR_NO_IMAGE";
    case TILE_ERROR_NO_SPECIALISATION: return "TILE_ERROR_NO_SPECIALISATION";
    case TILE_ERROR_ARGUMENT: return "TILE_ERROR_ARGUMENT";
    case TILE_ERROR_ABI: return "TILE_ERROR_ABI";
    case TILE_ERROR_NO_EMULATOR: return "TILE_ERROR_NO_EMULATOR";
    case TILE_ERROR_MEMORY: return "TILE_ERROR_MEMORY";
    case TILE_ERROR_FAULT: return "TILE_ERROR_FAULT";
    case TILE_ERROR_DEVICE: return "TILE_ERROR_DEVICE";
    default: return "unknown tile_status";
    }
}

const char *tile_status_name(tile_status status)
{
    if (status <= 0) return own_name(status);
    /* Only a driver that is open already: naming an error must not open one. */
    const tile_driver *driver =
        atomic_load_explicit(&tile_the_process.driver, memory_order_acquire);
    const char *name = NULL;
    if (!driver || driver->error_name(status, &name) != CUDA_SUCCESS || !name)
        return "unknown CUresult";
    return name;
}
