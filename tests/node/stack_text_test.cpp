#include "node/stack_text.hpp"

#include <boost/test/unit_test.hpp>

/// py-spy's output as a person wants to read it.
namespace headway::node {

namespace {

std::string frame(const std::string& name, const std::string& file, int line, const std::string& module = "null") {
  const std::string short_name = file.substr(file.rfind('/') + 1);
  return R"({"name": ")" + name + R"(", "filename": ")" + file + R"(", "module": )" + module +
         R"(, "short_filename": ")" + short_name + R"(", "line": )" + std::to_string(line) + R"(, "locals": null})";
}

std::string thread(const std::string& name, const std::vector<std::string>& frames, bool gil = false) {
  std::string list;
  for (const std::string& each : frames) list += (list.empty() ? "" : ", ") + each;
  return R"({"pid": 1, "thread_id": 140, "thread_name": )" + name +
         R"(, "os_thread_id": 77, "active": true, "owns_gil": )" + (gil ? "true" : "false") + R"(, "frames": [)" +
         list + "]}";
}

std::string text(const std::string& printed) {
  const Result<std::string> lines = stack_text(printed);
  BOOST_REQUIRE(lines.has_value());
  return *lines;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(stack_text_suite)

BOOST_AUTO_TEST_CASE(the_module_that_is_imported_is_the_innermost_whose_code_runs) {
  const std::string importlib = frame("_call_with_frames_removed", "<frozen importlib._bootstrap>", 241);
  const auto printed = [&](const std::string& file) {
    return "[" +
           thread("\"MainThread\"", {frame("wraps", "/usr/lib/python3.11/functools.py", 9), frame("<module>", file, 3),
                                     importlib, frame("<module>", "/me/train.py", 1)}) +
           "]";
  };
  BOOST_TEST(module_imported(printed("/env/site-packages/torch/_dynamo/__init__.py")) == "torch._dynamo");
  BOOST_TEST(module_imported(printed("/env/site-packages/torch/fx/graph.py")) == "torch.fx.graph");
  BOOST_TEST(module_imported(printed("/home/me/reader.py")) == "reader");
  BOOST_TEST(module_imported("[" + thread("\"MainThread\"", {frame("<module>", "/me/train.py", 1)}) + "]") == "");
  BOOST_TEST(module_imported("Error: no such process") == "");
}

BOOST_AUTO_TEST_CASE(the_users_frames_are_shown_and_not_those_that_called_them) {
  const std::string printed =
      "[" +
      thread("\"MainThread\"",
             {frame("pthread_cond_wait", "/lib/libc.so.6", 0, "\"/lib/libc.so.6\""),
              frame("all_reduce", "/env/lib/python3.11/site-packages/torch/c10d.py", 32),
              frame("loop", "/home/me/train.py", 9), frame("_train", "/env/site-packages/headway/_worker/main.py", 100),
              frame("work", "/env/site-packages/headway/_worker/main.py", 50), frame("<module>", "<string>", 1)},
             true) +
      "]";
  BOOST_TEST(text(printed) ==
             "MainThread (running, with the interpreter's lock), innermost frame first:\n"
             "  pthread_cond_wait (libc.so.6)\n"
             "  all_reduce (c10d.py:32)\n"
             "  loop (/home/me/train.py:9)\n");
}

BOOST_AUTO_TEST_CASE(a_process_that_is_still_in_our_own_code_shows_it) {
  const std::string printed =
      "[" + thread("\"MainThread\"", {frame("_settle_in", "/env/headway/_worker/main.py", 60)}) + "]";
  BOOST_TEST(text(printed).find("  _settle_in (/env/headway/_worker/main.py:60)\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_import_machinery_is_left_out) {
  const std::string printed = "[" +
                              thread("\"MainThread\"", {frame("<module>", "/home/me/slow.py", 3),
                                                        frame("_load_unlocked", "<frozen importlib._bootstrap>", 690),
                                                        frame("<module>", "/home/me/outer.py", 1)}) +
                              "]";
  const std::string lines = text(printed);
  BOOST_TEST(lines.find("importlib") == std::string::npos);
  BOOST_TEST(lines.find("slow.py:3)\n  <module> (/home/me/outer.py:1)") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_main_thread_comes_first_and_long_lists_are_cut) {
  std::string printed = "[";
  for (int i = 0; i < 9; ++i) printed += thread("null", {frame("wait", "/a.py", i)}) + ", ";
  std::vector<std::string> deep;
  for (int i = 0; i < 50; ++i) deep.push_back(frame(i == 0 ? std::string(500, 'x') : "f", "/deep.py", i));
  printed += thread("\"MainThread\"", deep) + "]";
  const std::string lines = text(printed);
  BOOST_TEST(lines.starts_with("MainThread (running)"));
  BOOST_TEST(lines.find("  and 10 more\n") != std::string::npos);
  BOOST_TEST(lines.find("thread 77 (running)") != std::string::npos);
  BOOST_TEST(lines.ends_with("and 4 more threads\n"));
  BOOST_TEST(lines.find(std::string(161, 'x')) == std::string::npos);
}

BOOST_AUTO_TEST_CASE(words_before_the_stacks_do_not_matter) {
  BOOST_TEST(
      text("WARN something\n[" + thread("\"MainThread\"", {frame("f", "/a.py", 1)}) + "]").starts_with("MainThread"));
}

BOOST_AUTO_TEST_CASE(what_is_no_stack_is_an_error) {
  BOOST_TEST(!stack_text("").has_value());
  BOOST_TEST(!stack_text("Error: Failed to suspend process\n").has_value());
  BOOST_TEST(!stack_text("[{\"frames\": 3}]").has_value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::node
