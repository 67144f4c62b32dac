# The target headway::torch: headway/torch.hpp with a libtorch. HEADWAY_TORCH_DIR is the folder of a torch package
# (`python -c "import torch; print(torch.__path__[0])"`) or of a libtorch; by default the package of the Python that CMake finds.
# PyTorch's own TorchConfig.cmake is not asked: that of a CUDA build wants CUDA's compiler, which nothing here needs.
if(NOT HEADWAY_TORCH_DIR)
  set(headway_python "${Python_EXECUTABLE}")
  if(NOT headway_python)
    find_package(Python3 QUIET COMPONENTS Interpreter)
    set(headway_python "${Python3_EXECUTABLE}")
  endif()
  if(headway_python)
    execute_process(COMMAND "${headway_python}" -c
      "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
      OUTPUT_VARIABLE HEADWAY_TORCH_DIR OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
endif()

if(EXISTS "${HEADWAY_TORCH_DIR}/lib/libtorch_cpu.so" AND NOT TARGET headway::torch)
  add_library(headway_torch INTERFACE)
  add_library(headway::torch ALIAS headway_torch)
  target_link_libraries(headway_torch INTERFACE headway::headway "${HEADWAY_TORCH_DIR}/lib/libtorch.so"
    "${HEADWAY_TORCH_DIR}/lib/libtorch_cpu.so" "${HEADWAY_TORCH_DIR}/lib/libc10.so")
  if(EXISTS "${HEADWAY_TORCH_DIR}/lib/libtorch_cuda.so")
    # Its operators register themselves when it is loaded; nothing names it.
    target_link_options(headway_torch INTERFACE
      "LINKER:--no-as-needed,${HEADWAY_TORCH_DIR}/lib/libtorch_cuda.so,--as-needed")
  endif()
  get_target_property(headway_include headway::headway INTERFACE_INCLUDE_DIRECTORIES)
  target_include_directories(headway_torch SYSTEM INTERFACE "${HEADWAY_TORCH_DIR}/include"
    "${HEADWAY_TORCH_DIR}/include/torch/csrc/api/include" "${headway_include}/headway/torch/declarations")
  target_compile_features(headway_torch INTERFACE cxx_std_20)
endif()
