#include "core/location.hpp"

#include <boost/test/unit_test.hpp>

namespace headway {

BOOST_AUTO_TEST_SUITE(location_suite)

BOOST_AUTO_TEST_CASE(urls_and_python_filesystems_are_remote_and_paths_are_not) {
  for (const char* location :
       {"s3://bucket/run", "gs://bucket", "hdfs://host:9000/run", "python-1a2b3c4d://bucket/run"}) {
    BOOST_TEST(is_remote(location), location);
  }
  for (const char* location : {"/data/run", "file:///data/run", "/data/odd://name", "relative/path"}) {
    BOOST_TEST(!is_remote(location), location);
  }
}

BOOST_AUTO_TEST_CASE(the_query_of_a_url_stays_at_its_end) {
  BOOST_TEST(join_location("s3://bucket/path?region=eu-west-1&scheme=http", "run") ==
             "s3://bucket/path/run?region=eu-west-1&scheme=http");
  BOOST_TEST(join_location("s3://bucket?endpoint_override=http://localhost:9000", "a/b") ==
             "s3://bucket/a/b?endpoint_override=http://localhost:9000");
  BOOST_TEST(join_location("s3://bucket/path/", "run") == "s3://bucket/path/run");
}

BOOST_AUTO_TEST_CASE(what_means_something_in_a_url_is_escaped_in_a_name_and_nowhere_else) {
  BOOST_TEST(join_location("s3://bucket", "is it 100%?") == "s3://bucket/is%20it%20100%25%3F");
  BOOST_TEST(join_location("/data", "is it 100%?") == "/data/is it 100%?");
  BOOST_TEST(join_location("python-1a2b3c4d:///data", "is it 100%?") == "python-1a2b3c4d:///data/is it 100%?");
}

BOOST_AUTO_TEST_CASE(a_file_url_stands_for_its_path) {
  BOOST_TEST(local_path("file:///data/a%20run").value() == "/data/a run");
  BOOST_TEST(local_path("/data/100%").value() == "/data/100%");
  for (const char* bad : {"file://host/data", "file:///data/%4", "file:///data/%zz", "file://"}) {
    const auto path = local_path(bad);
    BOOST_TEST(!path, bad);
    BOOST_TEST((path.error().kind == ErrorKind::invalid_argument));
  }
}

BOOST_AUTO_TEST_CASE(a_joined_name_is_found_again) {
  for (const char* directory :
       {"s3://bucket/run?region=x", "s3://bucket", "python-1a2b3c4d:///data/run", "/data/run"}) {
    for (const char* name : {"checkpoint_000001", "is it 100%?"}) {
      BOOST_TEST(name_below(directory, join_location(directory, name)).value() == name);
    }
    for (const char* name : {"", "a/b"}) BOOST_TEST(!name_below(directory, join_location(directory, name)));
  }
  BOOST_TEST(!name_below("s3://bucket/run?region=x", "s3://bucket/run/c?region=y"));
  BOOST_TEST(!name_below("s3://bucket/run", "s3://bucket/runs/c"));
  BOOST_TEST(!name_below("s3://bucket/run", "/bucket/run/c"));
}

BOOST_AUTO_TEST_CASE(people_are_not_shown_passwords) {
  BOOST_TEST(shown_location("s3://key:secret@bucket/run?region=x") == "s3://bucket/run?region=x");
  BOOST_TEST(shown_location("s3://bucket/run?secret_key=abc&region=x") == "s3://bucket/run?secret_key=...&region=x");
  BOOST_TEST(shown_location("s3://bucket/a@b") == "s3://bucket/a@b");
  BOOST_TEST(shown_location("/data/run") == "/data/run");
}

BOOST_AUTO_TEST_CASE(a_location_is_taken_apart_as_it_was_joined) {
  for (const char* run : {"/data/run", "s3://bucket/run?region=x&scheme=http", "gs://bucket", "python-0a1b://run",
                          "hdfs://host:9000/runs", "python-0a1b://run/a?b"}) {
    for (const char* name : {"checkpoint_000003", "with space", "50%", "größe"}) {
      const std::string joined = join_location(run, name);
      BOOST_TEST(parent_location(joined) == run);
      BOOST_TEST(name_of(joined) == name);
    }
  }
  BOOST_TEST(parent_location("/data") == "/");
  BOOST_TEST(parent_location("/data/run/") == "/data");
  BOOST_TEST(name_of("s3://bucket/run/?region=x") == "run");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway
