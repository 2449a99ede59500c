/* dict.c: dicts and sets: keys in order of insertion, and an index of them once there are many. */
#include "eval/values/values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEW = 16, HASH_DEPTH = 4 };

/* By hash, open-addressed: a key's entry and one, or 0. It is what the keys are as long as their
 * number is the one that it was made for: who takes keys away sets it to NO_COUNT, or clears all.
 */
struct DictIndex {
    uint32_t *slots;
    size_t capacity, count, used; /* slots, with those that are LEFT */
};
#define NO_COUNT SIZE_MAX
#define LEFT     UINT32_MAX /* a slot whose key was taken away */

/* ---- hashes: what is equal has one hash ---- */

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash ^= word;
    hash = (hash ^ hash >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t hash_pointer(const void *pointer)
{
    return mix(1, (uint64_t)(uintptr_t)pointer);
}

static uint64_t hash_number(const Object *object)
{
    if (object->kind != OBJECT_FLOAT && object->kind != OBJECT_WIDE)
        return (uint64_t)object->as.integer;
    const double number = object_number(object);
    if (number >= -0x1p63 && number < 0x1p63 && number == trunc(number))
        return (uint64_t)(int64_t)number;
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return mix(2, bits);
}

/* A type is equal to its name. */
static uint64_t hash_text(const Eval *eval, const Object *object)
{
    DType dtype;
    if (dtype_by_user_name(eval, object->as.text.data, &dtype)) return mix(3, dtype);
    uint64_t hash = 4;
    for (size_t i = 0; i < object->as.text.length; i++)
        hash = mix(hash, (unsigned char)object->as.text.data[i]);
    return hash;
}

/* What __hash__ says; where __eq__ alone is there, all are alike. */
static uint64_t hash_instance(Eval *eval, const Object *object)
{
    Object *method = special_method(eval, object, "__hash__");
    if (method == NULL)
        return special_method(eval, object, "__eq__") != NULL ? 6
                                                              : hash_pointer(object->as.instance);
    Object *hash = eval->ops->call_simple(eval, method, 1,
                                          (Object *[]){(Object *)(uintptr_t)object}, eval->at);
    return hash != NULL && object_is_number(hash) ? hash_number(hash) : 6;
}

static uint64_t hash_at(Eval *eval, const Object *object, int depth)
{
    if (!eval_work(eval, 1)) return 0;
    if (object_is_real(object)) return hash_number(object);
    switch ((int)object->kind) {
    case OBJECT_TEXT:
        eval_work(eval, object->as.text.length / WORK_LETTERS);
        return hash_text(eval, object);
    case OBJECT_DTYPE: return mix(3, object->as.dtype);
    case OBJECT_INSTANCE: return hash_instance(eval, object);
    case OBJECT_CLASS: return hash_pointer(object->as.class->name); /* see class_is() */
    case OBJECT_IR: return hash_pointer(object->as.ir.value);
    case OBJECT_BUILTIN: return hash_pointer(object->as.builtin);
    case OBJECT_POINTER_TYPE: return mix(8, object->as.dtype);
    case OBJECT_TUPLE: break;
    case OBJECT_LIST: /* equal by what they hold, which may change */
    case OBJECT_DICT:
    case OBJECT_SET:
    case OBJECT_RANGE:
    case OBJECT_METHOD:
    case OBJECT_NONE:
    case OBJECT_ELLIPSIS: return (uint64_t)object->kind;
    default: return hash_pointer(object);
    }
    uint64_t hash = mix(5, object->as.list.count);
    for (uint32_t i = 0; i < object->as.list.count && depth < HASH_DEPTH; i++)
        hash = mix(hash, hash_at(eval, object->as.list.items[i], depth + 1));
    return hash;
}

uint64_t object_hash(Eval *eval, const Object *object)
{
    return hash_at(eval, object, 0);
}

/* Why Python would not hash it: equal by what it holds, which may change, or by an __eq__ alone.
 */
static bool may_change(Eval *eval, const Object *object)
{
    switch ((int)object->kind) {
    case OBJECT_LIST:
    case OBJECT_DICT: return true;
    case OBJECT_SET: return !object->as.dict.frozen;
    case OBJECT_INSTANCE:
        return special_method(eval, object, "__eq__") != NULL &&
               special_method(eval, object, "__hash__") == NULL;
    default: return false;
    }
}

enum { KEY_DEPTH = 100 };

static bool holds_change(Eval *eval, const Object *object, int depth)
{
    if (!eval_work(eval, 1)) return false; /* reported */
    if (object->kind != OBJECT_TUPLE || object_is_record(object)) return may_change(eval, object);
    for (uint32_t i = 0; i < object->as.list.count && depth < KEY_DEPTH; i++)
        if (holds_change(eval, object->as.list.items[i], depth + 1)) return true;
    return false;
}

bool key_is_fit(Eval *eval, const Object *key, Span at)
{
    if (!holds_change(eval, key, 0)) return true;
    FAIL(eval, expected_kind, at, "what is hashed", "a value that does not change",
         object_repr(eval, key));
    return false;
}

/* ---- the index ---- */

static size_t first_slot(const DictIndex *index, uint64_t hash)
{
    return (size_t)(mix(7, hash) & (index->capacity - 1));
}

static size_t next_slot(Eval *eval, const DictIndex *index, size_t slot)
{
    eval_work(eval, 1);
    return (slot + 1) & (index->capacity - 1);
}

static void index_add(Eval *eval, DictIndex *index, uint64_t hash, size_t entry)
{
    size_t slot = first_slot(index, hash);
    while (index->slots[slot] != 0 && eval->work_left > 0) slot = next_slot(eval, index, slot);
    index->slots[slot] = (uint32_t)entry + 1;
    index->used++;
}

/* Of the last place: those of the others stay. */
static void index_remove(Eval *eval, DictIndex *index, uint64_t hash, size_t entry)
{
    size_t slot = first_slot(index, hash);
    while (index->slots[slot] != entry + 1 && index->slots[slot] != 0)
        slot = next_slot(eval, index, slot);
    const bool found = index->slots[slot] == entry + 1; /* if its hash is what it was */
    if (found) index->slots[slot] = LEFT;
    index->count = found ? entry : NO_COUNT;
}

static void index_hashes(Eval *eval, Object *dict, const uint64_t *hashes)
{
    const ObjectVec *keys = &dict->as.dict.keys;
    DictIndex *index = dict->as.dict.index;
    if (index == NULL) index = dict->as.dict.index = arena_new_of(eval->arena, DictIndex);
    if (index->capacity < 3 * keys->count) {
        index->capacity = 64;
        while (index->capacity < 4 * keys->count) index->capacity *= 2;
        index->slots = arena_new_array(eval->arena, uint32_t, index->capacity);
    } else {
        memset(index->slots, 0, sizeof *index->slots * index->capacity);
    }
    index->used = 0;
    for (size_t i = 0; i < keys->count; i++) index_add(eval, index, hashes[i], i);
    index->count = keys->count;
}

/* A __hash__ may change the dict, which then has no index until the next key. */
static void index_all(Eval *eval, Object *dict)
{
    const size_t count = dict->as.dict.keys.count, bytes = sizeof(Object *) * count;
    uint64_t *hashes = malloc(sizeof *hashes * count);
    Object **keys = malloc(bytes);
    CHECK(hashes != NULL && keys != NULL);
    memcpy(keys, dict->as.dict.keys.data, bytes);
    for (size_t i = 0; i < count; i++) hashes[i] = object_hash(eval, keys[i]);
    if (dict->as.dict.keys.count == count && memcmp(dict->as.dict.keys.data, keys, bytes) == 0)
        index_hashes(eval, dict, hashes);
    free(hashes);
    free(keys);
}

/* The index goes by what __hash__ says, which without an evaluator nobody asks. */
size_t dict_entry(Eval *eval, const Object *dict, const Object *key)
{
    const ObjectVec *keys = &dict->as.dict.keys;
    const DictIndex *index = dict->as.dict.index;
    size_t entry = 0;
    if (eval == NULL || eval->plain > 0 || index == NULL || index->count != keys->count) {
        while (entry < keys->count && !object_agrees(eval, keys->data[entry], key)) entry++;
        return entry;
    }
    for (size_t slot = first_slot(index, object_hash(eval, key)); index->slots[slot] != 0;
         slot = next_slot(eval, index, slot)) {
        entry = index->slots[slot] - 1;
        if (entry < keys->count && object_agrees(eval, keys->data[entry], key)) return entry;
    }
    return keys->count;
}

/* ---- the interface ---- */

Object *dict_new(Eval *eval)
{
    Object *dict = object_new(eval, OBJECT_DICT);
    dict->as.dict.control = (uint32_t)eval->control;
    dict->made = ++eval->clock;
    return dict;
}

Object *dict_get(Eval *eval, const Object *dict, const Object *key)
{
    const size_t entry = dict_entry(eval, dict, key);
    return entry < dict->as.dict.keys.count ? dict->as.dict.values.data[entry] : NULL;
}

void dict_set(Eval *eval, Object *dict, Object *key, Object *value)
{
    ObjectVec *keys = &dict->as.dict.keys;
    const size_t entry = dict_entry(eval, dict, key);
    if (entry < keys->count) {
        dict->as.dict.values.data[entry] = value;
        return;
    }
    vec_push(eval->arena, keys, key);
    vec_push(eval->arena, &dict->as.dict.values, value);
    DictIndex *index = dict->as.dict.index;
    if (index == NULL || index->count != entry || 2 * index->used >= index->capacity) {
        if (keys->count > FEW) index_all(eval, dict);
        return;
    }
    const uint64_t hash = object_hash(eval, key);
    if (index->count != entry || keys->count != entry + 1) return; /* it has changed the dict */
    index_add(eval, index, hash, entry);
    index->count = keys->count;
}

static void remove_at(ObjectVec *vec, size_t index)
{
    vec->count--;
    memmove(vec->data + index, vec->data + index + 1, sizeof(Object *) * (vec->count - index));
}

void dict_remove(Eval *eval, Object *dict, const Object *key)
{
    DictIndex *index = dict->as.dict.index;
    const uint64_t hash = index != NULL ? object_hash(eval, key) : 0;
    const size_t entry = dict_entry(eval, dict, key); /* the last that may change the dict */
    const size_t count = dict->as.dict.keys.count;
    if (entry >= count) return; /* an __eq__ may have removed some */
    if (index != NULL && index->count == count && entry == count - 1)
        index_remove(eval, index, hash, entry);
    else if (index != NULL)
        index->count = NO_COUNT;
    eval_work(eval, (count - entry) / WORK_BYTES);
    remove_at(&dict->as.dict.keys, entry);
    remove_at(&dict->as.dict.values, entry);
}

void dict_clear(Object *dict)
{
    dict->as.dict.keys.count = dict->as.dict.values.count = 0;
    if (dict->as.dict.index != NULL) dict->as.dict.index->count = NO_COUNT;
}
