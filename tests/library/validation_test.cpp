#include "library/program_run.hpp"

#include <fstream>
#include <map>
#include <string>

/// Checkpoints that are validated beside the training, by functions of the program.
namespace headway::library {
namespace {

struct ValidatingProgram : TrainProgram {
  std::string log(const std::string& checkpoint) const {
    std::ifstream file(folder.path() + "/run/logs/validation_" + checkpoint + ".log");
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(validation_suite, ValidatingProgram)

BOOST_AUTO_TEST_CASE(what_a_validation_finds_counts_for_the_checkpoints) {
  both("validate", [&](const Ended& ended) {
    BOOST_TEST(ended.code == 0);
    // Arguments of a report go over those of the trainer.
    BOOST_TEST(ended.says("(validation of checkpoint_000000) threshold 0.2 of x"));
    BOOST_TEST(ended.says("(validation of checkpoint_000001) threshold 0.3 of x"));
    BOOST_TEST(log("checkpoint_000001").find("threshold 0.3 of x\n") != std::string::npos);
    // The best one, and the newest.
    BOOST_TEST(!ended.says("kept checkpoint_000000"));
    BOOST_TEST(
        ended.says("checkpoint_000001 of 1 files is validated with {\"weight\":0.4,\"accuracy\":0.9,\"good\":true}"));
    BOOST_TEST(
        ended.says("checkpoint_000002 of 1 files is validated with {\"weight\":0.9,\"accuracy\":0.6,\"good\":false}"));
    BOOST_TEST(ended.says("kept checkpoint_000001 of 1 files, whole\nkept checkpoint_000002 of 1 files, whole\n"));
    BOOST_TEST(ended.says("\"accuracy\":0.6"));  // The last report's, in the result.
  });
}

BOOST_AUTO_TEST_CASE(a_validation_that_fails_is_told_and_the_training_goes_on) {
  both("validate_throws", [](const Ended& ended) {
    BOOST_TEST(ended.code == 0);
    BOOST_TEST(
        ended.says("warning: the validation of checkpoint_000000 failed; the training is not touched by it: "
                   "std::runtime_error: broken weight 0.5\n"));
    BOOST_TEST(ended.says("find_it_broken(headway::Checkpoint const&)"));
    BOOST_TEST(ended.says("is validation_failed with {\"weight\":0.5}"));
  });
  both("validate_returns_number", [](const Ended& ended) {
    BOOST_TEST(ended.code == 0);
    BOOST_TEST(ended.says("the validation function returned 3; allowed: an object of metrics"));
    BOOST_TEST(ended.says("is validation_failed with"));
  });
}

BOOST_AUTO_TEST_CASE(a_validation_that_takes_too_long_is_ended) {
  both("validate_too_long", [](const Ended& ended) {
    BOOST_TEST(ended.code == 0);
    BOOST_TEST(ended.says("is validation_timeout with {\"weight\":0.5}"));
  });
}

BOOST_AUTO_TEST_CASE(a_validation_whose_process_died_is_begun_again_so_often_as_allowed) {
  both("validate_dies_twice", [](const Ended& ended) {
    BOOST_TEST(ended.code == 0);
    BOOST_TEST(ended.says("was killed by SIGKILL (signal 9); it is begun again (2 of 2 times)"));
    BOOST_TEST(ended.says("is validated with {\"weight\":0.5,\"deaths\":2}"));
  });
  both("validate_dies", [](const Ended& ended) {
    BOOST_TEST(ended.code == 0);
    BOOST_TEST(ended.says("was killed by SIGKILL (signal 9); the training is not touched by it"));
    BOOST_TEST(ended.says("is validation_failed with"));
  });
}

BOOST_AUTO_TEST_CASE(so_many_run_at_once_as_are_allowed) {
  both("validate_at_once", [](const Ended& ended) {
    BOOST_TEST(ended.code == 0);
    for (int i = 0; i < 4; ++i) {
      BOOST_TEST(ended.says("checkpoint_00000" + std::to_string(i) +
                            " of 1 files is validated with {\"weight\":" + std::to_string(i)));
    }
  });
}

BOOST_AUTO_TEST_CASE(a_validation_goes_on_while_the_group_is_started_again) {
  both("validate_over_restart", [](const Ended& ended) {
    BOOST_TEST(ended.code == 0);
    BOOST_TEST(ended.says("attempts 2"));
    BOOST_TEST(ended.says("is validated with {\"weight\":0.5,\"told\":\"go on\"}"));
  });
}

BOOST_AUTO_TEST_CASE(what_a_killed_driver_had_not_validated_the_next_one_does) {
  for (const std::string start : {"fork", "exec"}) {
    if (start == "fork" && !can_fork) continue;
    BOOST_TEST_CONTEXT("workers by " << start) {
      const Folder place;
      std::ofstream(place.path() + "/hold") << "x";
      const std::string command =
          "HEADWAY_WORKER_START=" + start + " exec " HEADWAY_TEST_PROGRAM " validate_where_held " + place.path();
      {
        Pipe pipe(command);
        std::string line = pipe.line();
        while (line.find("pids ") == std::string::npos) line = pipe.line();
        const Watched validation(std::stoi(line.substr(line.find("pids ") + 5)));
        pipe.kill();
        BOOST_TEST(validation.ends());
      }
      std::filesystem::remove(place.path() + "/hold");
      const Ended ended = run_command(command);
      BOOST_TEST_CONTEXT(ended.output) {
        BOOST_TEST(ended.code == 0);
        BOOST_TEST(ended.says("is validated with {\"weight\":0.5,\"accuracy\":0.75}"));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_validation_may_have_a_trainer_of_its_own) {
  both("validate_by_trainer", [](const Ended& ended) {
    BOOST_TEST(ended.code == 0);
    BOOST_TEST(ended.says("is validated with {\"weight\":0.5,\"sum\":2,\"weight_was\":0.5}"));
  });
}

BOOST_AUTO_TEST_CASE(a_validation_is_no_rank_and_may_not_claim_what_there_is_not) {
  both("validate_and_report", [](const Ended& ended) {
    BOOST_TEST(ended.code == 0);
    BOOST_TEST(ended.says("headway::report() was called in a validation function: it works in the training loop"));
  });
  both("validate_claims_nothing_there", [](const Ended& ended) {
    BOOST_TEST(ended.code == 1);
    BOOST_TEST(
        ended.says("for a validation, 1 worker with {of no such kind: 1} each can never be placed: there is {CPU: "));
  });
}

BOOST_AUTO_TEST_CASE(a_bad_validation_is_refused_before_anything_starts) {
  const std::map<std::string, std::string> words{
      {"validation_not_registered", "ValidationConfig.function is not registered; write HEADWAY_VALIDATION(its name);"},
      {"validation_twice", "HEADWAY_VALIDATION names two functions \"measure\"; allowed: a name once in a program"},
      {"validation_bad_arguments", "ValidationTaskConfig.arguments is 3; allowed: an object"},
      {"validation_none_at_once", "ValidationConfig.max_concurrent is 0; allowed: an integer from 1 to 1000"},
      {"validation_no_time", "ValidationTaskConfig.timeout_s is 0; allowed: none (no limit), or seconds above 0"},
      {"validation_in_no_order", "ValidationConfig.order is \"any\"; allowed: \"oldest\" or \"newest\""},
      {"validation_many_retries", "max_retries of ValidationConfig is 101; allowed: an integer from 0 to 100"},
      {"validation_half_gpus", "what ValidationConfig claims of GPU is 1.5; allowed: "},
  };
  for (const auto& [mode, text] : words) {
    BOOST_TEST_CONTEXT(mode) {
      const Ended ended = run(mode, can_fork ? "fork" : "exec");
      BOOST_TEST_CONTEXT(ended.output) {
        BOOST_TEST(ended.code == 1);
        BOOST_TEST(ended.says("error invalid_argument: " + text));
        BOOST_TEST(std::filesystem::is_empty(folder.path()));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_report_that_asks_for_what_cannot_be_done_is_refused) {
  const std::map<std::string, std::string> words{
      {"ask_without_checkpoint", "ReportOptions.validation is given without a checkpoint; allowed: together with"},
      {"ask_without_function", "ReportOptions.validation is given, and the trainer has no TrainerOptions.validation"},
      {"ask_for_no_time", "ValidationTaskConfig.timeout_s is -1; allowed: "},
      {"ask_with_bad_arguments", "ValidationTaskConfig.arguments is \"test\"; allowed: an object"},
  };
  for (const auto& [mode, text] : words) {
    BOOST_TEST_CONTEXT(mode) {
      const Folder place;
      const Ended ended = run_command("HEADWAY_WORKER_START=" + std::string(can_fork ? "fork" : "exec") +
                                      " " HEADWAY_TEST_PROGRAM " " + mode + " " + place.path());
      BOOST_TEST_CONTEXT(ended.output) {
        BOOST_TEST(ended.code == 1);
        BOOST_TEST(ended.says("error user_code: headway::BadResult: " + text));
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::library
