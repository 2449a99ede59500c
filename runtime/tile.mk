# tile.mk: make rules for tile kernels. Include it, and depend on kernel.o and kernel.h where
# kernel.tile or kernel.py lies:
#
#     include /usr/local/share/tile/tile.mk
#     app: app.o matmul.o
#     	$(CC) -o $@ $^ $(TILE_LIBS)
#     app.o: app.c matmul.h
#     	$(CC) $(TILE_CFLAGS) -c -o $@ $<
#
# Set before the include, or on the command line:
#   TILE_ARCH    what to compile for: tilec --arch
#   TILEFLAGS    more options for tilec, such as --export
#   TILE_OUT     the folder for what is made; empty: beside the sources
# Given: TILEC, TILE_CFLAGS, TILE_LIBS (the emulator included), TILE_PREFIX (TILE_OUT with a slash).

TILE_ARCH ?= sm_90a,sm_80,compute_80,emulator
TILE_OUT ?=
TILE_PREFIX := $(if $(TILE_OUT),$(TILE_OUT)/)

# This file lies in runtime/ of the source tree or in PREFIX/share/tile/. Its path is taken as it was
# included: a relative one leads out of a folder with blanks in its name, which make could not handle.
TILE_HERE := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
ifeq ($(wildcard $(TILE_HERE)/tile.mk),)
$(error make knows no names with blanks: include tile.mk by a relative path that has none)
endif
ifneq ($(words $(TILE_OUT) .)$(words $(TILE_BUILD) .),$(if $(TILE_OUT),2,1)$(if $(TILE_BUILD),2,1))
$(error make knows no names with blanks: give TILE_OUT and TILE_BUILD as relative paths that have none)
endif
ifneq ($(wildcard $(TILE_HERE)/include/tile/tile.h),)
TILE_BUILD ?= $(TILE_HERE)/../build
TILEC ?= $(TILE_BUILD)/tilec
TILE_CFLAGS ?= -I$(TILE_HERE)/include
TILE_LIBRARIES := $(TILE_BUILD)/libtile_emulator.a $(TILE_BUILD)/libtile.a
else
TILEC ?= $(TILE_HERE)/../../bin/tilec
TILE_CFLAGS ?= -I$(TILE_HERE)/../../include
TILE_LIBRARIES := -L$(TILE_HERE)/../../lib -ltile_emulator -ltile
endif
TILE_LIBS ?= $(TILE_LIBRARIES) -lm -lpthread -ldl

# A pattern rule of two targets makes both at once.
define TILE_COMPILE
$(if $(TILE_OUT),@mkdir -p $(TILE_OUT))
$(TILEC) $(TILEFLAGS) --arch=$(TILE_ARCH) -MMD -MP -MF $(TILE_PREFIX)$*.d \
  -o $(TILE_PREFIX)$*.o -H $(TILE_PREFIX)$*.h $<
endef
$(TILE_PREFIX)%.o $(TILE_PREFIX)%.h: %.tile
	$(TILE_COMPILE)
$(TILE_PREFIX)%.o $(TILE_PREFIX)%.h: %.py
	$(TILE_COMPILE)

-include $(wildcard $(TILE_PREFIX)*.d)
