#include "library/program_run.hpp"

#include <headway/trainer.hpp>

#include <csignal>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

/// Programs that train, as their users run them: with workers that are forked, and with workers
/// that are started by exec.
namespace headway::library {

BOOST_FIXTURE_TEST_SUITE(trainer_suite, TrainProgram)

BOOST_AUTO_TEST_CASE(a_loop_runs_in_every_rank_with_its_configuration_and_its_value_comes_back) {
  both("sum_up", [](const Ended& ended) {
    BOOST_TEST(ended.code == 0);
    BOOST_TEST(ended.says("\"doubled\":42"));
    BOOST_TEST(ended.says("\"step\":2"));
    BOOST_TEST(ended.says("\"rank\":0}") != ended.says("\"rank\":1}"));
    BOOST_TEST(ended.says("(rank 0) rank 0 of 2"));
    BOOST_TEST(ended.says("(rank 1) rank 1 of 2"));
    BOOST_TEST(ended.says("returned {\"pid_differs\":true,\"rank\":0}"));
    BOOST_TEST(ended.says("attempts 1"));
  });
}

BOOST_AUTO_TEST_CASE(a_killed_rank_brings_all_back_to_the_last_checkpoint) {
  both("die_once", [](const Ended& ended) {
    BOOST_TEST(ended.code == 0);
    BOOST_TEST(ended.says("was killed by SIGKILL (signal 9) before its training function had returned, in attempt 1"));
    BOOST_TEST(ended.says("Restarting the worker group (failure 1 of 1 allowed) from checkpoint_000002"));
    BOOST_TEST(ended.says("\"epoch\":4"));
    BOOST_TEST(ended.says("\"attempt_was\":2"));
    BOOST_TEST(ended.says("attempts 2"));
    BOOST_TEST(ended.says("kept checkpoint_000003 of 1 files, whole\nkept checkpoint_000004 of 1 files, whole\n"));
  });
}

BOOST_AUTO_TEST_CASE(callbacks_hear_every_report_of_every_rank_and_what_failed) {
  both("die_once", [](const Ended& ended) {
    BOOST_TEST(
        ended.says("heard [{\"epoch\":2,\"attempt_was\":1},{\"epoch\":2,\"attempt_was\":1}] checkpoint_000002\n"));
    BOOST_TEST(
        ended.says("heard [{\"epoch\":4,\"attempt_was\":2},{\"epoch\":4,\"attempt_was\":2}] checkpoint_000004\n"));
    BOOST_TEST(ended.says("rank 1 failed: "));
  });
}

BOOST_AUTO_TEST_CASE(a_run_that_is_there_is_gone_on_with_from_its_newest_checkpoint) {
  both("die_once", [&](const Ended& first) {
    BOOST_TEST(first.code == 0);
    const Ended again = run("die_once", can_fork ? "fork" : "exec");
    BOOST_TEST_CONTEXT(again.output) {
      BOOST_TEST(again.code == 0);
      BOOST_TEST(!again.says("heard "));
      BOOST_TEST(again.says("\"epoch\":4"));
      BOOST_TEST(again.says("kept checkpoint_000003 of 1 files, whole\nkept checkpoint_000004 of 1 files, whole\n"));
    }
  });
}

BOOST_AUTO_TEST_CASE(what_a_callback_throws_fails_the_run) {
  both("callback_throws", [](const Ended& ended) {
    BOOST_TEST(ended.code == 1);
    BOOST_TEST(ended.says("error user_code: std::out_of_range: enough\n"));
    BOOST_TEST(ended.says("Thrown by a callback of TrainerOptions.callbacks"));
  });
}

BOOST_AUTO_TEST_CASE(asynchronous_checkpoints_of_all_ranks_are_stored_when_fit_has_returned) {
  both("store_asynchronously", [](const Ended& ended) {
    BOOST_TEST(ended.code == 0);
    for (const std::string name : {"checkpoint_000000", "checkpoint_000003"}) {
      BOOST_TEST(ended.says("kept " + name + " of 2 files, whole"));
    }
  });
}

BOOST_AUTO_TEST_CASE(a_directory_that_was_handed_over_is_gone_and_its_checkpoint_has_its_name) {
  both("hand_over", [](const Ended& ended) {
    BOOST_TEST(ended.code == 0);
    BOOST_TEST(ended.says("(rank 1) left there: 0"));
    BOOST_TEST(ended.says("kept mine of 2 files, whole\nmetadata {\"classes\":10}\n"));
  });
}

BOOST_AUTO_TEST_CASE(what_the_ranks_have_put_into_the_runs_folder_is_recorded_as_it_lies) {
  both("place", [](const Ended& ended) {
    BOOST_TEST(ended.code == 0);
    BOOST_TEST(ended.says("kept epoch_0 of 2 files, whole\nkept epoch_1 of 2 files, whole\n"));
  });
  both("place_and_move", [](const Ended& ended) { BOOST_TEST(ended.says("kept mine of 2 files, whole")); });
}

BOOST_AUTO_TEST_CASE(a_function_of_the_programs_own_stores_the_checkpoint) {
  for (const std::string mode : {"store_by_function", "store_by_function_asynchronously"}) {
    both(mode, [](const Ended& ended) {
      BOOST_TEST(ended.code == 0);
      BOOST_TEST(ended.says("kept checkpoint_000000 of 4 files, whole"));
    });
  }
  both("store_by_bad_function", [](const Ended& ended) {
    BOOST_TEST(ended.code == 1);
    BOOST_TEST(ended.says("std::runtime_error: no luck with checkpoint_000000"));
  });
}

BOOST_AUTO_TEST_CASE(an_exception_is_told_with_its_type_its_words_and_the_frames_that_threw_it) {
  both("throw_in_rank_1", [&](const Ended& ended) {
    BOOST_TEST(ended.code == 1);
    const TrainResult found = TrainResult::from_path(folder.path() + "/run").value();
    BOOST_REQUIRE(found.error.has_value());
    BOOST_TEST((found.error->kind == ErrorKind::user_code));
    BOOST_TEST(found.error->message.starts_with("(anonymous namespace)::OutOfLuck: no luck in rank 1"));
    BOOST_TEST(ended.says("error user_code: (anonymous namespace)::OutOfLuck: no luck in rank 1\n"));
    BOOST_TEST(ended.says("#0 (anonymous namespace)::stumble(int)"));
    BOOST_TEST(ended.says("Raised by the training function in rank 1"));
    BOOST_TEST(ended.says("rank 0: in the training function"));
    BOOST_TEST(ended.says("The run's folder: "));
  });
}

BOOST_AUTO_TEST_CASE(an_exception_comes_with_what_led_to_it) {
  both("throw_with_cause", [](const Ended& ended) {
    BOOST_TEST(ended.says("error user_code: std::logic_error: the step failed\n"));
    BOOST_TEST(ended.says("Caused by (anonymous namespace)::OutOfLuck: no luck in rank 1\n"));
  });
}

BOOST_AUTO_TEST_CASE(what_is_thrown_may_be_no_exception) {
  both("throw_number", [](const Ended& ended) {
    BOOST_TEST(ended.says("error user_code: int: "));
    BOOST_TEST(ended.says("#0 (anonymous namespace)::throw_number()"));
  });
}

BOOST_AUTO_TEST_CASE(the_frames_are_not_those_of_an_exception_that_was_caught_before) {
  both("throw_after_a_caught_one", [](const Ended& ended) {
    BOOST_TEST(ended.says("#0 (anonymous namespace)::stumble(int)"));
    BOOST_TEST(!ended.says("skip_a_row"));
  });
}

BOOST_AUTO_TEST_CASE(metrics_that_are_no_object_are_refused) {
  both("report_outside_metrics",
       [](const Ended& ended) { BOOST_TEST(ended.says("metrics is [1,2,3]; allowed: an object")); });
}

BOOST_AUTO_TEST_CASE(a_rank_that_exits_is_told_with_its_code) {
  both("exit_early", [](const Ended& ended) {
    BOOST_TEST(ended.says("error worker_died: rank "));
    BOOST_TEST(ended.says("exited with code 3 before its training function had returned"));
  });
}

BOOST_AUTO_TEST_CASE(a_crash_is_told_with_its_signal_and_its_frames) {
  both("crash", [](const Ended& ended) {
    BOOST_TEST(ended.says("error worker_died: rank "));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // They turn it into an exit.
    BOOST_TEST(ended.says("was killed by SIGSEGV (signal 11)"));
    BOOST_TEST(ended.says("#0 (anonymous namespace)::write_to(int volatile*)"));
    BOOST_TEST(!ended.says("call_loop"));  // Frames of ours that called the loop.
    BOOST_TEST(ended.says("Files and lines, if the program was compiled with -g: addr2line -Cfpie /"));
#endif
  });
}

BOOST_AUTO_TEST_CASE(an_exception_that_leaves_a_thread_is_told_with_the_frames_that_threw_it) {
  both("throw_in_thread", [](const Ended& ended) {
    BOOST_TEST(ended.says("error worker_died: rank "));
    BOOST_TEST(ended.says("what():  no luck in rank 1"));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    BOOST_TEST(ended.says("was killed by SIGABRT (signal 6)"));
    BOOST_TEST(ended.says(" (anonymous namespace)::stumble(int)"));
#endif
  });
}

BOOST_AUTO_TEST_CASE(workers_have_the_environment_and_where_it_says_so_the_directory_that_the_driver_had_at_fit) {
  const auto check = [&](const Ended& ended) {
    const std::string cwd = std::filesystem::path(folder.path()).filename().string();
    BOOST_TEST(ended.says("(rank 1) word w\xC3\xB6rter \xFF cwd " + cwd + " depth 1 role none"));
  };
  both("show_environment", check, "HEADWAY_CHDIR_TO_TRIAL_DIR=0 ");
}

BOOST_AUTO_TEST_CASE(a_program_that_can_not_train_says_why_before_anything_starts) {
  const std::map<std::string, std::string> words{
      {"main_missing", "this program has no headway::Main; write"},
      {"main_twice", "two objects of headway::Main"},
      {"twice", "HEADWAY_TRAIN_LOOP names two loops \"sum_up\""},
      {"not_registered", "Trainer's loop is not registered; write HEADWAY_TRAIN_LOOP"},
      {"bad_config", "TrainerOptions.config is 3; allowed: an object"},
      {"bad_metadata", "TrainerOptions.metadata is 3; allowed: an object"},
      {"callback_null", "TrainerOptions.callbacks[0] is null; allowed: an object of a class"},
      {"no_workers", "ScalingConfig.num_workers is 0; allowed: an integer from 1 to 1000000"},
      {"bad_range", "ScalingConfig.min_workers is 3; allowed: an integer from 1 to num_workers, which is 2"},
  };
  for (const auto& [mode, text] : words) {
    both(mode, [&](const Ended& ended) {
      BOOST_TEST(ended.code == 1);
      BOOST_TEST(ended.says("error invalid_argument: "));
      BOOST_TEST(ended.says(text));
      BOOST_TEST(std::filesystem::is_empty(folder.path()));
    });
  }
}

BOOST_AUTO_TEST_CASE(a_directory_to_resume_from_must_be_there) {
  both("resume_from_nothing", [](const Ended& ended) {
    BOOST_TEST(ended.says("error not_found: resume_from_checkpoint is \"/none\", which is no directory"));
  });
}

BOOST_AUTO_TEST_CASE(threads_before_main_are_refused_where_workers_would_be_forked) {
  const Ended forked = run("main_late", "fork");
  BOOST_TEST(forked.says("headway::Main was constructed when the program had"));
  BOOST_TEST(run("main_late", "exec").code == 0);
}

BOOST_AUTO_TEST_CASE(fit_inside_of_a_training_loop_is_refused) {
  both("fit_inside", [](const Ended& ended) {
    BOOST_TEST(ended.says("error user_code: headway::BadResult: Trainer::fit() was called inside a training loop"));
  });
}

BOOST_AUTO_TEST_CASE(workers_are_the_program_that_was_started_though_its_file_is_gone_or_another_one) {
  for (const std::string start : {"fork", "exec"}) {
    if (start == "fork" && !can_fork) continue;
    for (const std::string mode : {"file_gone", "file_replaced"}) {
      const Folder place;
      const std::string copy = place.path() + "/program";
      std::filesystem::copy_file(HEADWAY_TEST_PROGRAM, copy);
      std::filesystem::create_directories(place.path() + "/storage");
      const Ended ended =
          run_command("HEADWAY_WORKER_START=" + start + " " + copy + " " + mode + " " + place.path() + "/storage");
      BOOST_TEST_CONTEXT(mode << ", workers by " << start << "\n" << ended.output) {
        BOOST_TEST(ended.code == 0);
        BOOST_TEST(ended.says("\"doubled\":42"));
        BOOST_TEST(std::filesystem::exists(copy) == (mode == "file_replaced"));
        if (mode == "file_replaced") BOOST_TEST(run_command(copy).says("the new program"));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_program_that_runs_itself_in_its_workers_comes_to_an_end) {
  const Ended ended = run("run_itself", can_fork ? "fork" : "exec");
  BOOST_TEST_CONTEXT(ended.output) {
    BOOST_TEST(ended.code == 0);
    for (const std::string depth : {"1", "2", "3", "4"}) BOOST_TEST(ended.says("at depth " + depth));
    BOOST_TEST(!ended.says("at depth 5"));
    BOOST_TEST(ended.says(
        "error invalid_argument: HEADWAY_DEPTH is 4 in the environment: this program runs in a worker of a "
        "run in a worker, and so on; allowed: runs within runs up to 4 deep, and this one would be the next"));
  }
}

BOOST_AUTO_TEST_CASE(a_rank_knows_who_it_is) {
  both("show_context", [&](const Ended& ended) {
    BOOST_TEST(ended.code == 0);
    BOOST_TEST(ended.says("world 1 of 2, local 1 of 2, node 0, attempt 1, cpus 1, gpus 0 of 0, run run in " +
                          folder.path() + "/run, worker 1, metadata {\"classes\":10}"));
    BOOST_TEST(ended.says("(rank 1) trial is the same: 1"));
  });
}

BOOST_AUTO_TEST_CASE(what_works_in_a_training_loop_only_says_so_elsewhere) {
  const Ended ended = run("call_outside", can_fork ? "fork" : "exec");
  BOOST_TEST_CONTEXT(ended.output) {
    BOOST_TEST(ended.code == 0);
    for (const std::string name :
         {"report", "context", "get_checkpoint", "get_all_reported_checkpoints", "barrier", "broadcast"}) {
      BOOST_TEST(
          ended.says(name + ": invalid_argument: headway::" + name + "() was called outside of a training loop"));
    }
  }
}

BOOST_AUTO_TEST_CASE(ranks_meet_in_barriers_and_give_each_other_bytes) {
  both("gather", [](const Ended& ended) {
    BOOST_TEST(ended.code == 0);
    BOOST_TEST(ended.says("returned [10,11]"));
    BOOST_TEST(ended.says("(rank 1) there: 1"));
  });
}

BOOST_AUTO_TEST_CASE(a_rank_that_waits_for_one_that_returned_is_told) {
  both("wait_for_one_that_returned", [](const Ended& ended) {
    BOOST_TEST(ended.says("rank 1 finished the training function while rank 0 waits in barrier()"));
  });
  both("bad_root", [](const Ended& ended) {
    BOOST_TEST(ended.says("BadResult: broadcast() was given root 7; allowed: a rank, 0 to 1"));
    // The user's frame, not the library's.
    BOOST_TEST(ended.says("#0 (anonymous namespace)::bad_root()"));
  });
}

BOOST_AUTO_TEST_CASE(a_rank_that_hangs_is_named_with_the_frames_that_it_is_in) {
  both("hang_before_the_barrier", [](const Ended& ended) {
    BOOST_TEST(ended.code == 0);
    BOOST_TEST(ended.says("rank 1 has not come to barrier() #1, in which rank 0 has waited for "));
    BOOST_TEST(ended.says("main thread, innermost frame first:\n"));
    BOOST_TEST(ended.says(" (anonymous namespace)::wait_until_looked_at() in "));
    BOOST_TEST(!ended.says("call_loop"));  // Frames of ours that called the loop.
  });
}

BOOST_AUTO_TEST_CASE(the_environment_says_when_a_rank_hangs) {
  const auto warned = [](const Ended& ended) {
    BOOST_TEST(ended.code == 0);
    BOOST_TEST(ended.says("rank 1 has not come to barrier() #1, in which rank 0 has waited for "));
  };
  both("hang_as_the_environment_says", warned, "HEADWAY_HANG_WARN_S=0.5 ");
  const auto failed = [](const Ended& ended) {
    BOOST_TEST(ended.code == 1);
    BOOST_TEST(ended.says("rank 1 did not come to barrier() #1"));
    BOOST_TEST(ended.says("hang_fail_s"));
  };
  both("hang_for_good", failed, "HEADWAY_HANG_FAIL_S=0.5 ");
  for (const std::string variable : {"HEADWAY_HANG_WARN_S", "HEADWAY_HANG_FAIL_S"}) {
    const Ended refused = run("sum_up", "exec", variable + "=soon ");
    BOOST_TEST(refused.says("error invalid_argument: " + variable +
                            " is \"soon\" in the environment; allowed: 0 (never), or seconds up to 1000000000"));
  }
}

BOOST_AUTO_TEST_CASE(a_killed_driver_leaves_no_process_behind) {
  for (const std::string start : {"fork", "exec"}) {
    if (start == "fork" && !can_fork) continue;
    const Folder place;
    Pipe pipe("HEADWAY_WORKER_START=" + start + " exec " HEADWAY_TEST_PROGRAM " pause " + place.path());
    const std::vector<Watched> processes = processes_of(pipe);
    pipe.kill();
    for (const Watched& process : processes) BOOST_TEST(process.ends());
  }
}

BOOST_AUTO_TEST_CASE(ctrl_c_ends_the_ranks_keeps_what_was_reported_and_ends_the_program_as_the_system_does) {
  for (const std::string start : {"fork", "exec"}) {
    if (start == "fork" && !can_fork) continue;
    const Folder place;
    Pipe pipe("HEADWAY_WORKER_START=" + start + " exec " HEADWAY_TEST_PROGRAM " pause " + place.path() + " 2>&1");
    const std::vector<Watched> processes = processes_of(pipe);
    const int status = pipe.end_by(SIGINT);
    BOOST_TEST_CONTEXT(pipe.rest()) {
      BOOST_TEST(WIFSIGNALED(status));
      BOOST_TEST(WTERMSIG(status) == SIGINT);
    }
    for (const Watched& process : processes) BOOST_TEST(process.ends());
    std::ifstream journal(place.path() + "/run/run.json");
    const std::string text(std::istreambuf_iterator<char>(journal), {});
    BOOST_TEST(text.find("\"aborted\"") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(runs_within_runs_have_a_limit_of_their_own) {
  const Ended ended = run_command("HEADWAY_DEPTH=4 " HEADWAY_TEST_PROGRAM " sum_up " + folder.path());
  BOOST_TEST(
      ended.says("error invalid_argument: HEADWAY_DEPTH is 4 in the environment: this program runs in a worker"));
}

BOOST_AUTO_TEST_CASE(a_bad_way_to_start_workers_is_refused) {
  BOOST_TEST(run("sum_up", "spawn").says("HEADWAY_WORKER_START is \"spawn\" in the environment; allowed: \"fork\""));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::library
