# find_package(headway): gives the target headway::headway.
include("${CMAKE_CURRENT_LIST_DIR}/headway-targets.cmake")
