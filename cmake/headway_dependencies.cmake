# The libraries Headway builds with. All of them come from Python wheels, so one command builds on any distribution:
# Boost from cmeel-boost, the xxHash header from pyarrow, nanobind from its own wheel.
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
find_package(Threads REQUIRED)

# Sets `variable` to the folder that the Python expression names.
function(headway_python_path variable expression)
  execute_process(COMMAND "${Python_EXECUTABLE}" -c "${expression}"
    OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status ERROR_VARIABLE why)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${Python_EXECUTABLE} lacks a build dependency (pip install -r requirements/build.txt): ${why}")
  endif()
  set(${variable} "${found}" PARENT_SCOPE)
endfunction()

headway_python_path(HEADWAY_BOOST_INCLUDE
  "import importlib.metadata as m; print(m.distribution('cmeel-boost').locate_file('cmeel.prefix/include'))")
headway_python_path(HEADWAY_ARROW_INCLUDE
  "import importlib.metadata as m; print(m.distribution('pyarrow').locate_file('pyarrow/include'))")
headway_python_path(HEADWAY_PYARROW_VERSION
  "import importlib.metadata as m; print(m.version('pyarrow'))")
# In the order in which they are loaded. S3 is a library of its own in the wheels from 26 on. Their names have the major version in them.
file(GLOB HEADWAY_LIBARROW "${HEADWAY_ARROW_INCLUDE}/../libarrow.so.*")
file(GLOB headway_libarrow_s3 "${HEADWAY_ARROW_INCLUDE}/../libarrow_s3.so.*")
list(APPEND HEADWAY_LIBARROW ${headway_libarrow_s3})
# What the data process links: S3 it loads when it is asked for a URL of it.
set(HEADWAY_LIBARROW_DATA "")
foreach(name arrow arrow_compute arrow_acero arrow_dataset parquet)
  file(GLOB found "${HEADWAY_ARROW_INCLUDE}/../lib${name}.so.*")
  list(APPEND HEADWAY_LIBARROW_DATA ${found})
endforeach()

add_library(headway_boost INTERFACE)
target_include_directories(headway_boost SYSTEM INTERFACE "${HEADWAY_BOOST_INCLUDE}")
# Asio and JSON are compiled once (src/core/json.cpp, src/wire/asio.cpp), not in every file that includes them.
target_compile_definitions(headway_boost INTERFACE
  BOOST_ASIO_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED BOOST_JSON_NO_LIB BOOST_CONTAINER_NO_LIB)

# The header alone: XXH3 is inlined from it, nothing of Arrow is linked.
add_library(headway_xxhash INTERFACE)
target_include_directories(headway_xxhash SYSTEM INTERFACE "${HEADWAY_ARROW_INCLUDE}/arrow/vendored/xxhash")
