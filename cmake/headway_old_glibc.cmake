# What the wheel for other machines carries (scripts/portable_wheel.sh): the objects of the development build, linked once more for
# glibc 2.28 and without a need for a newer libstdc++. HEADWAY_OLD_GLIBC is the folder that scripts/old_glibc.sh has filled.
#
# These targets are built only when they are asked for (`portable`), and installed by the component `portable`.
set(HEADWAY_OLD_GLIBC "" CACHE PATH "Folder of scripts/old_glibc.sh; adds the target `portable`")

# headway_portable(target destination [SHARED_STDCXX]): the target's twin. SHARED_STDCXX is for a library whose programs have the
# compiler's libstdc++ in any case.
function(headway_portable target destination)
  if(NOT HEADWAY_OLD_GLIBC)
    return()
  endif()
  if(NOT TARGET portable)
    add_custom_target(portable)
    add_library(headway_old_glibc OBJECT EXCLUDE_FROM_ALL "${PROJECT_SOURCE_DIR}/cmake/old_glibc.cpp")
  endif()
  set(twin "portable_${target}")
  get_target_property(type ${target} TYPE)
  set(objects $<TARGET_OBJECTS:${target}> $<TARGET_OBJECTS:headway_old_glibc>)
  if(type STREQUAL "EXECUTABLE")
    add_executable(${twin} EXCLUDE_FROM_ALL ${objects})
  elseif(type STREQUAL "SHARED_LIBRARY")
    add_library(${twin} SHARED EXCLUDE_FROM_ALL ${objects})
  else()
    add_library(${twin} MODULE EXCLUDE_FROM_ALL ${objects})
  endif()
  foreach(property LINK_LIBRARIES LINK_OPTIONS PREFIX SUFFIX OUTPUT_NAME INSTALL_RPATH SKIP_BUILD_RPATH)
    get_target_property(value ${target} ${property})
    if(NOT "${value}" MATCHES "NOTFOUND$")
      set_target_properties(${twin} PROPERTIES ${property} "${value}")
    endif()
  endforeach()
  get_target_property(named ${target} OUTPUT_NAME)
  if(NOT named)
    set_target_properties(${twin} PROPERTIES OUTPUT_NAME "${target}")
  endif()
  set_target_properties(${twin} PROPERTIES LINKER_LANGUAGE CXX RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/portable"
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/portable")
  # Functions of libarrow and libpython are of the machine that it runs on.
  target_link_options(${twin} PRIVATE "-B${HEADWAY_OLD_GLIBC}" "-L${HEADWAY_OLD_GLIBC}" LINKER:--allow-shlib-undefined)
  if(NOT "SHARED_STDCXX" IN_LIST ARGN)
    # Its names stay inside: libarrow brings libstdc++.so.6, and each must call its own.
    target_link_options(${twin} PRIVATE -static-libstdc++ LINKER:--exclude-libs,ALL)
  endif()
  add_dependencies(portable ${twin})
  install(TARGETS ${twin} DESTINATION ${destination} COMPONENT portable EXCLUDE_FROM_ALL)
endfunction()
