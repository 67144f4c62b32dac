#include <headway/torch/devices.hpp>

#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <map>
#include <string>

/// Which device a worker uses, and what carries its collectives.
namespace headway::torch {
namespace {

/// A worker of two on a node.
Context worker(std::vector<std::string> gpu_ids, std::vector<std::string> visible_gpus) {
  Context context;
  context.local_world_size = 2;
  context.gpu_ids = std::move(gpu_ids);
  context.visible_gpus = std::move(visible_gpus);
  return context;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(devices_suite)

BOOST_AUTO_TEST_CASE(a_worker_uses_the_first_of_its_own_gpus_by_its_place_among_the_visible_ones) {
  BOOST_TEST((device_index(worker({"2"}, {"0", "2"})) == std::optional(1)));
  BOOST_TEST((device_index(worker({"4", "5"}, {"6", "7", "4", "5"})) == std::optional(2)));
  BOOST_TEST((device_index(worker({"GPU-8a1"}, {"GPU-8a1", "GPU-9b2"})) == std::optional(0)));
}

BOOST_AUTO_TEST_CASE(a_worker_without_a_gpu_uses_the_cpu) {
  BOOST_TEST(!device_index(worker({}, {})).has_value());
  BOOST_TEST(!device_index(worker({}, {"0"})).has_value());
  BOOST_TEST((gpu_backend(worker({}, {}), true) == GpuBackend::none));
}

BOOST_AUTO_TEST_CASE(a_gpu_that_the_process_does_not_see_is_told) {
  BOOST_CHECK_EXCEPTION((void)device_index(worker({"3"}, {"0", "1"})), BadResult, [](const BadResult& error) {
    return error.error().kind == ErrorKind::unavailable &&
           std::string(error.what()).find("this worker's GPU 3 is not among those that its process sees") == 0;
  });
}

BOOST_AUTO_TEST_CASE(nccl_is_for_programs_that_have_it_and_workers_with_gpus_of_their_own) {
  const Context own = worker({"1"}, {"0", "1"});
  BOOST_TEST((gpu_backend(own, true) == GpuBackend::nccl));
  BOOST_TEST((gpu_backend(own, false) == GpuBackend::gloo));
  const Context shared = worker({"0"}, {"0"});
  BOOST_TEST((gpu_backend(shared, true) == GpuBackend::gloo));
}

BOOST_AUTO_TEST_CASE(threads_are_those_of_the_environment_or_the_cpus_of_the_worker) {
  Context own;
  own.cpus = 3;
  unsetenv("OMP_NUM_THREADS");
  BOOST_TEST(thread_count(own) == 3);
  const std::map<std::string, int> threads{{"", 3}, {"many", 3}, {"0", 3}, {"-2", 3}, {"2", 2}, {"4,2", 4}};
  for (const auto& [said, expected] : threads) {
    setenv("OMP_NUM_THREADS", said.c_str(), 1);
    BOOST_TEST(thread_count(own) == expected, "\"" << said << "\"");
  }
  unsetenv("OMP_NUM_THREADS");
}

BOOST_AUTO_TEST_CASE(what_a_process_may_use_is_known_in_workers_alone) {
  BOOST_CHECK_EXCEPTION((void)process_context("get_device()"), BadResult, [](const BadResult& error) {
    return std::string(error.what()).find("get_device() was called outside of a training loop") == 0;
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::torch
