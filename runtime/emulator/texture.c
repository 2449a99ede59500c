/* texture.c: what tex.level reads: texels, and what lies between them. As the CUDA C++ Programming
 * Guide has it, weights of neighbours are fixed-point numbers of eight bits behind the point. */
#include <math.h>
#include <string.h>

#include "emulator/emulator.h"
#include "tile/emulator.h"

enum { DIMS = 3, CHANNELS = 4, WEIGHT = 256 };

typedef enum Format {
    FORMAT_U8 = 1,
    FORMAT_U16,
    FORMAT_U32,
    FORMAT_S8 = 8,
    FORMAT_S16,
    FORMAT_S32,
    FORMAT_F16 = 16,
    FORMAT_F32 = 32
} Format;

typedef enum AddressMode { WRAPS, CLAMPS, MIRRORS, IS_ZERO } AddressMode;

/* Along one dimension: the texel at or before a place, and how much of the next one there is. */
typedef struct Place {
    int64_t texel;
    double next;
} Place;

typedef struct Level {
    const tile_emulator_texture *texture;
    const uint8_t *texels;
    int64_t extents[DIMS];
} Level;

static int64_t floor_of(double x)
{
    const double most = 0x1p62;
    if (x != x) return 0;
    const int64_t whole = (int64_t)(x > most ? most : x < -most ? -most : x);
    return whole - ((double)whole > x);
}

static int texel_bytes(uint32_t format)
{
    switch (format) {
    case FORMAT_U8:
    case FORMAT_S8: return 1;
    case FORMAT_U16:
    case FORMAT_S16:
    case FORMAT_F16: return 2;
    default: return 4;
    }
}

static double half(uint16_t bits)
{
    const int exponent = bits >> 10 & 31;
    double value = bits & 1023;
    if (exponent == 31)
        return value != 0   ? (double)__builtin_nanf("")
               : bits >> 15 ? -__builtin_inf()
                            : __builtin_inf();
    value = exponent == 0 ? value * 0x1p-24
                          : (value + 1024) * (double)((uint64_t)1 << exponent) * 0x1p-25;
    return bits >> 15 ? -value : value;
}

/* Integers of 8 and 16 bits are parts of the largest one. */
static double channel(const uint8_t *at, uint32_t format)
{
    uint16_t word;
    float number;
    switch (format) {
    case FORMAT_U8: return *at / 255.0;
    case FORMAT_S8: return *(const int8_t *)at < -127 ? -1 : *(const int8_t *)at / 127.0;
    case FORMAT_F32: memcpy(&number, at, sizeof number); return (double)number;
    default: memcpy(&word, at, sizeof word); break;
    }
    if (format == FORMAT_F16) return half(word);
    if (format == FORMAT_U16) return word / 65535.0;
    return (int16_t)word < -32767 ? -1 : (int16_t)word / 32767.0;
}

/* -1: there is none, and all is 0. */
static int64_t inside(int64_t texel, int64_t extent, uint32_t mode)
{
    if (mode == WRAPS || mode == MIRRORS) {
        const int64_t period = mode == WRAPS ? extent : 2 * extent;
        texel %= period;
        if (texel < 0) texel += period;
        return texel < extent ? texel : period - 1 - texel;
    }
    if (texel >= 0 && texel < extent) return texel;
    return mode == IS_ZERO ? -1 : texel < 0 ? 0 : extent - 1;
}

/* Where the texel lies; NULL: outside. */
static const uint8_t *texel_at(const Level *level, const int64_t *texel)
{
    const tile_emulator_texture *texture = level->texture;
    int64_t index = 0;
    for (int i = DIMS - 1; i >= 0; i--) {
        const int64_t at = inside(texel[i], level->extents[i], texture->address[i]);
        if (at < 0) return NULL;
        index = index * level->extents[i] + at;
    }
    return level->texels + (size_t)index * texture->channels * (size_t)texel_bytes(texture->format);
}

static Place place_of(const Level *level, int dim, float coordinate)
{
    const uint32_t mode = level->texture->address[dim];
    const double unit = level->texture->normalized ? 1 : (double)level->texture->extents[dim];
    double x = (double)coordinate;
    if (mode == WRAPS || mode == MIRRORS) x = fmod(x, mode == WRAPS ? unit : 2 * unit);
    x *= (double)level->extents[dim] / unit;
    if (!level->texture->linear) return (Place){floor_of(x), 0};
    const int64_t fixed = floor_of((x - 0.5) * WEIGHT + 0.5), texel = fixed >> 8;
    return (Place){texel, (double)(fixed - texel * WEIGHT) / WEIGHT};
}

/* A level, and where in it the coordinates are. */
static Level level_at(const tile_emulator_texture *texture, int64_t number, uint32_t dims,
                      const float *coordinates, Place *places)
{
    Level level = {texture, texture->levels[number], {1, 1, 1}};
    for (uint32_t i = 0; i < DIMS; i++) {
        const int64_t extent = i < dims ? (int64_t)texture->extents[i] >> number : 1;
        level.extents[i] = extent > 1 ? extent : 1;
        places[i] = i < dims ? place_of(&level, (int)i, coordinates[i]) : (Place){0, 0};
    }
    return level;
}

static void add_level(const tile_emulator_texture *texture, int64_t number, uint32_t dims,
                      const float *coordinates, double share, double *sums)
{
    Place places[DIMS];
    const Level level = level_at(texture, number, dims, coordinates, places);
    const int bytes = texel_bytes(texture->format);
    for (int corner = 0; corner < 1 << dims; corner++) {
        int64_t texel[DIMS];
        double weight = share;
        for (int i = 0; i < DIMS; i++) {
            const int next = corner >> i & 1;
            texel[i] = places[i].texel + next;
            weight *= next ? places[i].next : 1 - places[i].next;
        }
        const uint8_t *at = weight != 0 ? texel_at(&level, texel) : NULL;
        for (uint32_t c = 0; at && c < texture->channels; c++)
            sums[c] += weight * channel(at + c * (uint32_t)bytes, texture->format);
    }
}

/* Integers of 32 bits come as they are. */
static void read_words(const tile_emulator_texture *texture, int64_t number, uint32_t dims,
                       const float *coordinates, uint32_t *out)
{
    Place places[DIMS];
    int64_t texel[DIMS];
    const Level level = level_at(texture, number, dims, coordinates, places);
    for (int i = 0; i < DIMS; i++) texel[i] = places[i].texel;
    const uint8_t *at = texel_at(&level, texel);
    for (uint32_t c = 0; c < CHANNELS; c++) {
        out[c] = 0;
        if (at && c < texture->channels) memcpy(&out[c], at + 4 * c, 4);
    }
}

void tile_emu_texture(tile_emu_thread *thread, uint64_t handle, float level, uint32_t dims, float x,
                      float y, float z)
{
    const tile_emulator_texture *texture = (const tile_emulator_texture *)(uintptr_t)handle;
    const float coordinates[DIMS] = {x, y, z};
    if (texture == NULL) { /* a field that nobody set */
        for (int i = 0; i < CHANNELS; i++) thread->out[i] = 0;
        return;
    }
    const double most = (double)texture->level_count - 1;
    double at = level > 0 ? (double)level : 0; /* NaN: the first */
    if (at > most) at = most;
    if (!texture->linear_levels) at = (double)floor_of(at + 0.5);
    if (texture->format == FORMAT_U32 || texture->format == FORMAT_S32) {
        read_words(texture, floor_of(at), dims, coordinates, thread->out);
        return;
    }
    double sums[CHANNELS] = {0, 0, 0, texture->channels < CHANNELS ? 1 : 0};
    const int64_t fixed = floor_of(at * WEIGHT + 0.5), first = fixed >> 8;
    const double next = (double)(fixed - first * WEIGHT) / WEIGHT;
    add_level(texture, first, dims, coordinates, 1 - next, sums);
    if (next != 0) add_level(texture, first + 1, dims, coordinates, next, sums);
    for (int i = 0; i < CHANNELS; i++) {
        const float value = (float)sums[i];
        memcpy(&thread->out[i], &value, sizeof value);
    }
}
