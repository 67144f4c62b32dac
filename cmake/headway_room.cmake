# The warnings that every target of ours is compiled with. GCC 12 sees overlaps and overruns inside std::string's `+` that
# are not there (GCC bugs 105329, 105651); under a sanitizer it guesses more of the kind.
set(HEADWAY_WARNINGS -Wall -Wextra -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  list(APPEND HEADWAY_WARNINGS -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow)
endif()
if(HEADWAY_SANITIZE)
  # ThreadSanitizer does not follow fences; those in Asio stand beside locks that it does follow.
  list(APPEND HEADWAY_WARNINGS -Wno-maybe-uninitialized -Wno-tsan)
endif()

# headway_room(NAME USES room... LIBRARIES lib...): one folder of src/ becomes the static library headway_NAME.
# `USES` names the rooms it may include; scripts/lint/rooms.py checks the same rule against the sources.
function(headway_room name)
  cmake_parse_arguments(ROOM "" "" "USES;LIBRARIES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  list(FILTER sources EXCLUDE REGEX "_main\\.cpp$")
  add_library(headway_${name} STATIC ${sources})
  target_include_directories(headway_${name} PUBLIC "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/include")
  target_compile_options(headway_${name} PRIVATE ${HEADWAY_WARNINGS})
  target_link_libraries(headway_${name} PUBLIC headway_boost ${ROOM_LIBRARIES})
  foreach(used ${ROOM_USES})
    target_link_libraries(headway_${name} PUBLIC headway_${used})
  endforeach()
endfunction()
