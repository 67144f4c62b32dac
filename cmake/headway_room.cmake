# The warnings that every target of ours is compiled with. GCC 12 sees overlaps and overruns inside std::string's `+` that
# are not there (GCC bugs 105329, 105651), and GCC 13 and 14 see values that are not set inside an optional that was just emplaced;
# under a sanitizer it guesses more of the kind. They are errors in development only: a compiler that we have not seen may warn of
# something, and `pip install` must not fail of that.
set(HEADWAY_WARNINGS -Wall -Wextra)
if(HEADWAY_TESTS)
  list(APPEND HEADWAY_WARNINGS -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    list(APPEND HEADWAY_WARNINGS -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow)
  else()
    list(APPEND HEADWAY_WARNINGS -Wno-maybe-uninitialized)
  endif()
endif()
if(HEADWAY_SANITIZE)
  # ThreadSanitizer does not follow fences; those in Asio stand beside locks that it does follow.
  list(APPEND HEADWAY_WARNINGS -Wno-maybe-uninitialized -Wno-tsan)
endif()

# headway_in_batches(TARGET): compiles a few of its files at once, in half the time, since they instantiate much of the same. Names in
# anonymous namespaces must differ within a room then. HEADWAY_BATCHES=OFF compiles each file by itself.
option(HEADWAY_BATCHES "Compile a few files at once" ON)
function(headway_in_batches target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${HEADWAY_BATCHES} UNITY_BUILD_BATCH_SIZE 6)
endfunction()

# headway_lightly(TARGET): code that waits for processes, sockets and disks is as quick at -O1, and compiles in two thirds of the time.
# Targets that share a precompiled header must agree in this: GCC 12 crashes otherwise.
function(headway_lightly target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:-O1>)
endfunction()

# headway_room(NAME USES room... LIBRARIES lib... [COMPUTES]): one folder of src/ becomes the static library headway_NAME. A room that
# COMPUTES is fully optimized.
# `USES` names the rooms it may include; scripts/lint/rooms.py checks the same rule against the sources.
function(headway_room name)
  cmake_parse_arguments(ROOM "COMPUTES" "" "USES;LIBRARIES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  list(FILTER sources EXCLUDE REGEX "_main\\.cpp$")
  add_library(headway_${name} STATIC ${sources})
  target_include_directories(headway_${name} PUBLIC "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/include")
  target_compile_options(headway_${name} PRIVATE ${HEADWAY_WARNINGS})
  if(NOT ROOM_COMPUTES)
    headway_lightly(headway_${name})
  endif()
  target_link_libraries(headway_${name} PUBLIC headway_boost ${ROOM_LIBRARIES})
  headway_in_batches(headway_${name})
  foreach(used ${ROOM_USES})
    target_link_libraries(headway_${name} PUBLIC headway_${used})
  endforeach()
endfunction()
