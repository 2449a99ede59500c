# tilec-config.cmake: find_package(tilec) gives
#
#   tilec::tilec                  the compiler
#   tilec::tile                   libtile, shared; tilec::tile_static
#   tilec::tile_emulator          libtile_emulator, shared, with tilec::tile; tilec::tile_emulator_static
#   tilec_add_library(NAME SOURCES FILE... [ARCHS ARCH...] [EXPORT 'N = EXPR'...] [GRAD NAME...] [TUNE FILE...]
#                     [IMPORT_DIRECTORIES FOLDER...] [DEFINITIONS NAME[=VALUE]...] [OPTIONS OPTION...] [RUNTIME STATIC|SHARED|NONE])
#
# tilec_add_library makes a static library of kernels. What links it finds their headers, FILE.h for FILE.tile, and gets libtile
# (RUNTIME: static where BUILD_SHARED_LIBS is OFF, or tilec is not installed, and else shared), and the emulator if one of ARCHS is for it.
# Kernels are made anew when a file that they import or TUNE names changes.
#   ARCHS     as tilec --arch; else TILEC_ARCHS, else what CMAKE_CUDA_ARCHITECTURES names, else tilec's own choice
#   EXPORT    as tilec --export, for a library of one source
# When cross-compiling, tilec is one that runs on this machine: TILEC_EXECUTABLE, else one on the path.

cmake_policy(PUSH)
cmake_policy(VERSION 3.20...3.25)

# This file lies in runtime/ of the source tree, which is used with its build folder, or in PREFIX/lib/cmake/tilec.
if(EXISTS "${CMAKE_CURRENT_LIST_DIR}/include/tile/tile.h")
  get_filename_component(_tilec_root "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
  set(TILEC_BUILD "${_tilec_root}/build" CACHE PATH "The build folder of tilec's source tree")
  set(_tilec_include "${CMAKE_CURRENT_LIST_DIR}/include")
  set(_tilec_library "${TILEC_BUILD}")
  set(_tilec_program "${TILEC_BUILD}/tilec")
  set(_tilec_version "")
else()
  get_filename_component(_tilec_root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
  set(_tilec_include "${_tilec_root}/include")
  set(_tilec_library "${_tilec_root}/lib")
  set(_tilec_program "${_tilec_root}/bin/tilec")
  set(_tilec_version ".0")
endif()

if(NOT TILEC_EXECUTABLE)
  if(CMAKE_CROSSCOMPILING)
    find_program(TILEC_EXECUTABLE tilec NO_CMAKE_FIND_ROOT_PATH DOC "The compiler of tile kernels")
  else()
    set(TILEC_EXECUTABLE "${_tilec_program}" CACHE FILEPATH "The compiler of tile kernels")
  endif()
endif()
if(NOT EXISTS "${TILEC_EXECUTABLE}")
  set(${CMAKE_FIND_PACKAGE_NAME}_FOUND FALSE)
  set(${CMAKE_FIND_PACKAGE_NAME}_NOT_FOUND_MESSAGE "there is no tilec that runs here: set TILEC_EXECUTABLE")
  cmake_policy(POP)
  return()
endif()

function(_tilec_import name kind file)
  if(NOT TARGET tilec::${name})
    add_library(tilec::${name} ${kind} IMPORTED)
    set_target_properties(tilec::${name} PROPERTIES IMPORTED_LOCATION "${file}" INTERFACE_INCLUDE_DIRECTORIES "${_tilec_include}"
      INTERFACE_LINK_LIBRARIES "${ARGN}")
  endif()
endfunction()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads QUIET)
set(_tilec_system "$<$<BOOL:${Threads_FOUND}>:Threads::Threads>" ${CMAKE_DL_LIBS})
if(NOT Threads_FOUND)
  set(_tilec_system pthread ${CMAKE_DL_LIBS})
endif()
_tilec_import(tile SHARED "${_tilec_library}/libtile.so${_tilec_version}")
_tilec_import(tile_emulator SHARED "${_tilec_library}/libtile_emulator.so${_tilec_version}" tilec::tile)
_tilec_import(tile_static STATIC "${_tilec_library}/libtile.a" ${_tilec_system})
_tilec_import(tile_emulator_static STATIC "${_tilec_library}/libtile_emulator.a" tilec::tile_static m)
set_target_properties(tilec::tile PROPERTIES IMPORTED_SONAME libtile.so.0)
set_target_properties(tilec::tile_emulator PROPERTIES IMPORTED_SONAME libtile_emulator.so.0)
if(NOT TARGET tilec::tilec)
  add_executable(tilec::tilec IMPORTED)
  set_target_properties(tilec::tilec PROPERTIES IMPORTED_LOCATION "${TILEC_EXECUTABLE}")
endif()

# "90a-real" and "90" are sm_90a; a virtual one is PTX for all GPUs.
function(_tilec_cuda_archs out)
  execute_process(COMMAND "${TILEC_EXECUTABLE}" --list-archs OUTPUT_VARIABLE known OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REPLACE "\n" ";" known "${known}")
  set(archs "")
  foreach(arch IN LISTS CMAKE_CUDA_ARCHITECTURES)
    string(REGEX MATCH "^[0-9]+" number "${arch}")
    if(arch STREQUAL "native")
      list(APPEND archs native)
    elseif(arch MATCHES "-virtual$")
      list(APPEND archs compute_80)
    elseif("sm_${number}a" IN_LIST known)
      list(APPEND archs sm_${number}a)
    elseif(number)
      list(APPEND archs sm_${number})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES archs)
  set(${out} "${archs}" PARENT_SCOPE)
endfunction()

# The machine that objects are for, if it is not this one.
function(_tilec_host_option out)
  set(host "")
  if(CMAKE_C_COMPILER_TARGET)
    set(host "--host=${CMAKE_C_COMPILER_TARGET}")
  elseif(CMAKE_CROSSCOMPILING)
    string(TOLOWER "${CMAKE_SYSTEM_NAME}" system)
    set(host "--host=${CMAKE_SYSTEM_PROCESSOR}-${system}-gnu")
  endif()
  set(${out} "${host}" PARENT_SCOPE)
endfunction()

# The kernels of one source: an object and a header in `folder`.
function(_tilec_compile source folder object options inputs)
  get_filename_component(path "${source}" ABSOLUTE)
  get_filename_component(stem "${source}" NAME_WE)
  set(base "${folder}/${stem}")
  add_custom_command(
    OUTPUT "${base}.o" "${base}.h"
    COMMAND tilec::tilec ${options} -MMD -MP -MF "${base}.d" -o "${base}.o" -H "${base}.h" "${path}"
    MAIN_DEPENDENCY "${path}"
    DEPENDS "${TILEC_EXECUTABLE}" ${inputs}
    DEPFILE "${base}.d"
    COMMENT "Compiling tile kernels ${stem}"
    VERBATIM)
  set_source_files_properties("${base}.o" PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  set(${object} "${base}.o" "${base}.h" PARENT_SCOPE)
endfunction()

function(_tilec_link name archs runtime)
  if(runtime STREQUAL "" AND (_tilec_version STREQUAL "" OR (DEFINED BUILD_SHARED_LIBS AND NOT BUILD_SHARED_LIBS)))
    set(runtime STATIC)
  elseif(NOT runtime MATCHES "^(STATIC|SHARED|NONE|)$")
    message(FATAL_ERROR "tilec_add_library: RUNTIME is STATIC, SHARED or NONE, not '${runtime}'")
  endif()
  set(kind "")
  if(runtime STREQUAL "STATIC")
    set(kind "_static")
  endif()
  target_include_directories(${name} SYSTEM INTERFACE "${_tilec_include}")
  if(runtime STREQUAL "NONE")
    return()
  endif()
  if(archs MATCHES "(^|;|,)emulator")
    target_link_libraries(${name} INTERFACE tilec::tile_emulator${kind})
  endif()
  target_link_libraries(${name} INTERFACE tilec::tile${kind})
endfunction()

# PREFIX each of a list, as options.
function(_tilec_options out prefix)
  set(options "")
  foreach(value IN LISTS ARGN)
    list(APPEND options "${prefix}${value}")
  endforeach()
  set(${out} "${options}" PARENT_SCOPE)
endfunction()

function(_tilec_absolute out)
  set(paths "")
  foreach(path IN LISTS ARGN)
    get_filename_component(path "${path}" ABSOLUTE)
    list(APPEND paths "${path}")
  endforeach()
  set(${out} "${paths}" PARENT_SCOPE)
endfunction()

function(tilec_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 tile "" "RUNTIME" "SOURCES;ARCHS;EXPORT;GRAD;TUNE;IMPORT_DIRECTORIES;DEFINITIONS;OPTIONS")
  if(tile_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tilec_add_library: what is '${tile_UNPARSED_ARGUMENTS}'? SOURCES is to come before the files")
  endif()
  list(LENGTH tile_SOURCES count)
  if(count EQUAL 0)
    message(FATAL_ERROR "tilec_add_library(${name}): no SOURCES are given")
  endif()
  if(tile_EXPORT AND count GREATER 1)
    message(FATAL_ERROR "tilec_add_library(${name}): EXPORT is for a library of one source, as its expressions are evaluated there")
  endif()
  if(NOT tile_ARCHS)
    set(tile_ARCHS ${TILEC_ARCHS})
  endif()
  if(NOT tile_ARCHS AND CMAKE_CUDA_ARCHITECTURES)
    _tilec_cuda_archs(tile_ARCHS)
  endif()

  _tilec_absolute(tune ${tile_TUNE})
  _tilec_absolute(imports ${tile_IMPORT_DIRECTORIES})
  _tilec_host_option(options)
  string(REPLACE ";" "," archs "${tile_ARCHS}")
  if(archs)
    list(APPEND options "--arch=${archs}")
  endif()
  _tilec_options(exports "--export=" ${tile_EXPORT})
  _tilec_options(grads "--grad=" ${tile_GRAD})
  _tilec_options(tunings "--tune=" ${tune})
  _tilec_options(folders "-I" ${imports})
  _tilec_options(definitions "-D" ${tile_DEFINITIONS})
  list(APPEND options ${exports} ${grads} ${tunings} ${folders} ${definitions} ${tile_OPTIONS})

  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${name}.tile")
  file(MAKE_DIRECTORY "${folder}")
  set(made "")
  foreach(source IN LISTS tile_SOURCES)
    _tilec_compile("${source}" "${folder}" outputs "${options}" "${tune}")
    list(APPEND made ${outputs})
  endforeach()
  add_library(${name} STATIC ${made})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE C)
  target_include_directories(${name} INTERFACE "${folder}")
  _tilec_link(${name} "${tile_ARCHS}" "${tile_RUNTIME}")
endfunction()

cmake_policy(POP)
