/* transport.c: messages in and out, as the protocol's base part has them: header lines, an empty
 * line, and so many bytes of JSON. */
#include "lsp/lsp.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { CHUNK = 64 << 10, LARGEST_MESSAGE = 1 << 28, LARGEST_HEADER = 4 << 10 };

/* ---- bytes ---- */

static bool wait_for_input(const Transport *transport, int milliseconds)
{
    struct pollfd poller = {.fd = transport->in, .events = POLLIN};
    int ready;
    do ready = poll(&poller, 1, milliseconds);
    while (ready < 0 && errno == EINTR);
    return ready > 0;
}

static void read_input(Transport *transport)
{
    char bytes[CHUNK];
    ssize_t count;
    do count = read(transport->in, bytes, sizeof bytes);
    while (count < 0 && errno == EINTR);
    if (count > 0)
        buf_bytes(&transport->received, bytes, (size_t)count);
    else
        transport->has_ended = true;
}

static void drop(Transport *transport, size_t count)
{
    Buf *received = &transport->received;
    transport->taken += count;
    if (transport->taken < received->length / 2) return;
    received->length -= transport->taken;
    memmove(received->data, received->data + transport->taken, received->length);
    transport->taken = 0;
}

/* ---- a message ---- */

typedef struct Header {
    size_t bytes;  /* that it takes; 0: it is not whole */
    size_t length; /* that it announces; SIZE_MAX: none, or one that is too large */
} Header;

static size_t announced_length(const char *line, size_t count)
{
    static const char NAME[] = "Content-Length:";
    const size_t name = sizeof NAME - 1;
    if (count <= name || strncasecmp(line, NAME, name) != 0) return SIZE_MAX;
    char *end;
    const unsigned long long length = strtoull(line + name, &end, 10);
    const bool is_number = end > line + name && (*end == '\r' || *end == '\n');
    return is_number && length <= LARGEST_MESSAGE ? (size_t)length : SIZE_MAX;
}

/* Lines may end in "\n" alone. */
static Header read_header(const char *data, size_t length)
{
    Header header = {0, SIZE_MAX};
    for (size_t at = 0; at < length;) {
        const char *end = memchr(data + at, '\n', length - at);
        if (end == NULL) break;
        const size_t count = (size_t)(end - data) - at + 1;
        if (count == 1 || (count == 2 && data[at] == '\r')) {
            header.bytes = at + count;
            return header;
        }
        const size_t said = announced_length(data + at, count);
        if (said != SIZE_MAX) header.length = said;
        at += count;
    }
    if (length > LARGEST_HEADER) header.bytes = length; /* it is none */
    return header;
}

static Received take_message(Transport *transport, json_t **message)
{
    const char *data = transport->received.data + transport->taken;
    const size_t length = transport->received.length - transport->taken;
    const Header header = length > 0 ? read_header(data, length) : (Header){0};
    if (header.bytes == 0) return RECEIVED_NOTHING;
    if (header.length == SIZE_MAX) {
        drop(transport, header.bytes);
        return RECEIVED_BROKEN;
    }
    if (length - header.bytes < header.length) return RECEIVED_NOTHING;
    *message = json_loadb(data + header.bytes, header.length, 0, NULL);
    drop(transport, header.bytes + header.length);
    return *message != NULL ? RECEIVED_MESSAGE : RECEIVED_BROKEN;
}

Received transport_receive(Transport *transport, int milliseconds, json_t **message)
{
    for (;;) {
        const Received received = take_message(transport, message);
        if (received != RECEIVED_NOTHING) return received;
        if (transport->has_ended) return RECEIVED_END;
        if (!wait_for_input(transport, milliseconds)) return RECEIVED_NOTHING;
        read_input(transport);
    }
}

bool transport_has_input(Transport *transport)
{
    return transport->has_ended || wait_for_input(transport, 0);
}

/* ---- out ---- */

static void write_all(Transport *transport, const char *bytes, size_t length)
{
    while (length > 0) {
        const ssize_t count = write(transport->out, bytes, length);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) {
            transport->has_ended = true; /* nobody reads it: nobody writes either */
            return;
        }
        bytes += count;
        length -= (size_t)count;
    }
}

void transport_send(Transport *transport, json_t *message)
{
    Buf bytes = {0};
    char *text = json_dumps(message, JSON_COMPACT | JSON_ENCODE_ANY);
    json_decref(message);
    if (text == NULL) return;
    buf_printf(&bytes, "Content-Length: %zu\r\n\r\n", strlen(text));
    buf_text(&bytes, text);
    write_all(transport, bytes.data, bytes.length);
    buf_free(&bytes);
    free(text);
}

void transport_notify(Transport *transport, const char *method, json_t *params)
{
    transport_send(transport, json_pack("{s:s, s:s, s:o}", "jsonrpc", "2.0", "method", method,
                                        "params", params));
}

void transport_free(Transport *transport)
{
    buf_free(&transport->received);
}
