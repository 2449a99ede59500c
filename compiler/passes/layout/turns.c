/* turns.c: a worklist in rounds (turns.h), as a binary heap. */
#include "passes/layout/turns.h"

static bool comes_before(Turn a, Turn b)
{
    return a.round != b.round ? a.round < b.round : a.index < b.index;
}

void turns_add(Arena *arena, Turns *turns, size_t index)
{
    const Turn turn = {turns->now.round + (index < turns->now.index), index};
    vec_push(arena, &turns->waiting, turn);
    size_t at = turns->waiting.count - 1;
    Turn *heap = turns->waiting.data;
    for (; at > 0 && comes_before(turn, heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = turn;
}

static size_t first_child(const Turn *heap, size_t count, size_t at)
{
    const size_t left = 2 * at + 1;
    return left + (left + 1 < count && comes_before(heap[left + 1], heap[left]));
}

bool turns_take(Turns *turns, size_t *index)
{
    if (turns->waiting.count == 0) {
        turns->now = (Turn){0};
        return false;
    }
    Turn *heap = turns->waiting.data;
    turns->now = heap[0];
    const Turn moved = vec_pop(&turns->waiting);
    const size_t count = turns->waiting.count;
    size_t at = 0;
    for (size_t child; (child = first_child(heap, count, at)) < count; at = child) {
        if (!comes_before(heap[child], moved)) break;
        heap[at] = heap[child];
    }
    if (count > 0) heap[at] = moved;
    *index = turns->now.index;
    return true;
}
