/* gpu.h: what a rank does with the CUDA driver beside libtile: its context, streams that follow
 * each other, graphs, times. On the emulator all is done when a call returns, and these functions
 * do nothing. */
#ifndef GPU_H
#define GPU_H

#include "team.h"

/* The driver's functions, before any rank begins. False: there are none. */
int gpu_find(void);

/* Makes the rank's GPU the thread's, and its streams, by their priorities. */
void gpu_open(Rank *rank);
void gpu_close(Rank *rank);

/* What `later` gets from now on waits for what `earlier` has. */
void gpu_follow(Rank *rank, tile_stream later, tile_stream earlier);
/* Until the rank's streams are done, or another rank has failed. */
void gpu_wait(Rank *rank);

typedef struct Graph Graph;
/* What is launched between these, on both streams. */
void gpu_record(Rank *rank);
Graph *gpu_recorded(Rank *rank);
void gpu_launch(Rank *rank, Graph *graph);
void gpu_free(Rank *rank, Graph *graph);

/* Milliseconds of the stream `compute` between two calls: gpu_time starts, gpu_timed waits and
 * says. */
void gpu_time(Rank *rank);
float gpu_timed(Rank *rank);

#endif
