# headway_room(NAME USES room... LIBRARIES lib...): one folder of src/ becomes the static library headway_NAME.
# `USES` names the rooms it may include; scripts/lint/rooms.py checks the same rule against the sources.
function(headway_room name)
  cmake_parse_arguments(ROOM "" "" "USES;LIBRARIES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  list(FILTER sources EXCLUDE REGEX "_main\\.cpp$")
  add_library(headway_${name} STATIC ${sources})
  target_include_directories(headway_${name} PUBLIC "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/include")
  target_compile_options(headway_${name} PRIVATE -Wall -Wextra -Werror)
  target_link_libraries(headway_${name} PUBLIC headway_boost ${ROOM_LIBRARIES})
  foreach(used ${ROOM_USES})
    target_link_libraries(headway_${name} PUBLIC headway_${used})
  endforeach()
endfunction()
