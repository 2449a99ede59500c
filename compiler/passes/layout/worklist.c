/* worklist.c: a worklist in rounds (worklist.h), as a binary heap. */
#include "passes/layout/worklist.h"

static bool comes_before(WorklistItem a, WorklistItem b)
{
    return a.round != b.round ? a.round < b.round : a.index < b.index;
}

void worklist_add(Arena *arena, Worklist *worklist, size_t index)
{
    const WorklistItem item = {worklist->now.round + (index < worklist->now.index), index};
    vec_push(arena, &worklist->waiting, item);
    size_t at = worklist->waiting.count - 1;
    WorklistItem *heap = worklist->waiting.data;
    for (; at > 0 && comes_before(item, heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = item;
}

static size_t first_child(const WorklistItem *heap, size_t count, size_t at)
{
    const size_t left = 2 * at + 1;
    return left + (left + 1 < count && comes_before(heap[left + 1], heap[left]));
}

bool worklist_take(Worklist *worklist, size_t *index)
{
    if (worklist->waiting.count == 0) {
        worklist->now = (WorklistItem){0};
        return false;
    }
    WorklistItem *heap = worklist->waiting.data;
    worklist->now = heap[0];
    const WorklistItem moved = vec_pop(&worklist->waiting);
    const size_t count = worklist->waiting.count;
    size_t at = 0;
    for (size_t child; (child = first_child(heap, count, at)) < count; at = child) {
        if (!comes_before(heap[child], moved)) break;
        heap[at] = heap[child];
    }
    if (count > 0) heap[at] = moved;
    *index = worklist->now.index;
    return true;
}
