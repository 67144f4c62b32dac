// Only the C library: a part of the program headway-guard.
#include "node/staging_place.hpp"

#include "core/lock_name.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace headway::node {
namespace {

/// `directory/name`; false when it is too long, or when the name is none of an entry.
bool join_path(char (&path)[PATH_MAX], const char* directory, const char* name) {
  if (std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0) return false;
  return std::snprintf(path, sizeof(path), "%s/%s", directory, name) < static_cast<int>(sizeof(path));
}

template <class Use>
void for_each_entry(const char* directory, Use use) {
  DIR* open_directory = opendir(directory);
  if (open_directory == nullptr) return;
  char path[PATH_MAX];
  while (const dirent* entry = readdir(open_directory)) {
    if (join_path(path, directory, entry->d_name)) use(path);
  }
  closedir(open_directory);
}

bool is_at(int file, const char* path) {
  struct stat mine{};
  struct stat there{};
  return fstat(file, &mine) == 0 && stat(path, &there) == 0 && mine.st_dev == there.st_dev &&
         mine.st_ino == there.st_ino;
}

/// The directory that the lock belongs to is removed by `remove`, if nobody holds the lock any
/// more.
void remove_if_left(char* lock_path, void (*remove)(const char* directory)) {
  const std::size_t length = std::strlen(lock_path);
  const std::size_t suffix = lock_suffix.size();
  if (length <= suffix || lock_path + length - suffix != lock_suffix) return;
  const int file = open(lock_path, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  // Its driver may have removed it, and another one made it anew, before the lock came.
  if (flock(file, LOCK_EX | LOCK_NB) == 0 && is_at(file, lock_path)) {
    lock_path[length - suffix] = '\0';
    remove(lock_path);
    lock_path[length - suffix] = lock_suffix[0];
    unlink(lock_path);
  }
  close(file);
}

}  // namespace

StagingPlace staging_place() {
  StagingPlace place;
  const char* chosen = std::getenv("HEADWAY_STAGING_DIR");
  place.is_chosen = chosen != nullptr && *chosen != '\0';
  const char* temporary = std::getenv("TMPDIR");
  if (temporary == nullptr || *temporary != '/') temporary = "/tmp";
  const int length = place.is_chosen ? std::snprintf(place.path, sizeof(place.path), "%s", chosen)
                                     : std::snprintf(place.path, sizeof(place.path), "%s/headway-staging-%u", temporary,
                                                     static_cast<unsigned>(geteuid()));
  if (length >= static_cast<int>(sizeof(place.path))) place.path[0] = '\0';
  return place;
}

void remove_left_working_directories(const char* staging) {
  char all[PATH_MAX];
  if (!join_path(all, staging, working_directories_name)) return;
  for_each_entry(all, [](const char* run) {
    for_each_entry(run, [](char* lock) { remove_if_left(lock, [](const char* directory) { rmdir(directory); }); });
    rmdir(run);
  });
}

void remove_with_content(const char* path) {
  constexpr int directories_open_max = 16;
  nftw(
      path, [](const char* each, const struct stat*, int, struct FTW*) { return (void)remove(each), 0; },
      directories_open_max, FTW_DEPTH | FTW_PHYS);
}

void remove_left_scratch_directories(const char* staging) {
  char all[PATH_MAX];
  if (!join_path(all, staging, scratch_directories_name)) return;
  for_each_entry(all, [](char* lock) { remove_if_left(lock, remove_with_content); });
  rmdir(all);
}

void leave_staging(const StagingPlace& place) {
  if (place.path[0] != '/') return;
  remove_left_working_directories(place.path);
  remove_left_scratch_directories(place.path);
  char all[PATH_MAX];
  if (join_path(all, place.path, working_directories_name)) rmdir(all);
  if (!place.is_chosen) rmdir(place.path);
}

}  // namespace headway::node
