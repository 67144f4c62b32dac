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

# NCCL, where its header and CUDA's are there: those of the packages that the CUDA wheels of torch bring along (nvidia-*, beside the torch
# package), or of a CUDA toolkit (HEADWAY_CUDA_INCLUDE names further folders). Without them GPU tensors go through Gloo.
function(headway_torch_nccl)
  file(GLOB nvidia "${HEADWAY_TORCH_DIR}/../nvidia/*/include")
  set(folders ${HEADWAY_CUDA_INCLUDE} ${nvidia} "$ENV{CUDA_HOME}/include" /usr/local/cuda/include)
  set(found "")
  foreach(header nccl.h cuda_runtime_api.h cublas_v2.h cusparse.h cusolverDn.h)
    find_path(headway_path_of_${header} ${header} PATHS ${folders} NO_CACHE)
    if(NOT headway_path_of_${header})
      message(STATUS "headway::torch is without NCCL: no ${header} (HEADWAY_CUDA_INCLUDE names folders to look in)")
      return()
    endif()
    list(APPEND found "${headway_path_of_${header}}")
  endforeach()
  list(REMOVE_DUPLICATES found)
  target_compile_definitions(headway_torch INTERFACE USE_C10D_NCCL USE_CUDA)
  target_include_directories(headway_torch SYSTEM INTERFACE ${found})
  target_link_libraries(headway_torch INTERFACE "${HEADWAY_TORCH_DIR}/lib/libtorch_cuda.so"
    "${HEADWAY_TORCH_DIR}/lib/libc10_cuda.so")
endfunction()

if(EXISTS "${HEADWAY_TORCH_DIR}/lib/libtorch_cpu.so" AND NOT TARGET headway::torch)
  add_library(headway_torch INTERFACE)
  add_library(headway::torch ALIAS headway_torch)
  target_link_libraries(headway_torch INTERFACE headway::headway "${HEADWAY_TORCH_DIR}/lib/libtorch.so"
    "${HEADWAY_TORCH_DIR}/lib/libtorch_cpu.so" "${HEADWAY_TORCH_DIR}/lib/libc10.so")
  if(EXISTS "${HEADWAY_TORCH_DIR}/lib/libtorch_cuda.so")
    # Its operators register themselves when it is loaded; nothing names it.
    target_link_options(headway_torch INTERFACE
      "LINKER:--no-as-needed,${HEADWAY_TORCH_DIR}/lib/libtorch_cuda.so,--as-needed")
    headway_torch_nccl()
  endif()
  get_target_property(headway_include headway::headway INTERFACE_INCLUDE_DIRECTORIES)
  target_include_directories(headway_torch SYSTEM INTERFACE "${HEADWAY_TORCH_DIR}/include"
    "${HEADWAY_TORCH_DIR}/include/torch/csrc/api/include" "${headway_include}/headway/torch/declarations")
  target_compile_features(headway_torch INTERFACE cxx_std_20)
endif()
