/* A stand-in for libhdfs, Hadoop's client library: its functions over a local folder.
 *
 * This is not HDFS. There is no name node, no Java and no network: tests compile this file so that Arrow, which loads
 * libhdfs by name, has something to call, and Headway's way through Arrow to hdfs:// is run. What it answers is what
 * hdfs.h of Hadoop 3 promises: names in listings are whole URLs (org.apache.hadoop.fs.Path), errors are in errno, making a
 * file makes the directories above it, and an empty listing is NULL with errno 0.
 *
 * HEADWAY_HDFS_STAND_IN is the folder that is "/"; nothing connects without it.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef int32_t tSize;
typedef time_t tTime;
typedef int64_t tOffset;
typedef uint16_t tPort;
typedef enum { kObjectKindFile = 'F', kObjectKindDirectory = 'D' } tObjectKind;

typedef struct {
  tObjectKind mKind;
  char* mName;
  tTime mLastMod;
  tOffset mSize;
  short mReplication;
  tOffset mBlockSize;
  char* mOwner;
  char* mGroup;
  short mPermissions;
  tTime mLastAccess;
} hdfsFileInfo;

typedef struct {
  char root[PATH_MAX];
  char authority[300];
} Connection;
typedef Connection* hdfsFS;

typedef struct {
  int descriptor;
} OpenFile;
typedef OpenFile* hdfsFile;

struct hdfsBuilder {
  char host[256];
  tPort port;
};

/* The local file of a path, which may be a whole URL. */
static char* local_of(hdfsFS fs, const char* path, char* place) {
  const char* scheme = strstr(path, "://");
  if (scheme) path = strchrnul(scheme + 3, '/');
  if (snprintf(place, PATH_MAX, "%s/%s", fs->root, path) >= PATH_MAX) *place = 0; /* No file has this name. */
  return place;
}

struct hdfsBuilder* hdfsNewBuilder(void) { return calloc(1, sizeof(struct hdfsBuilder)); }

void hdfsBuilderSetNameNode(struct hdfsBuilder* builder, const char* host) {
  snprintf(builder->host, sizeof builder->host, "%s", host);
}

void hdfsBuilderSetNameNodePort(struct hdfsBuilder* builder, tPort port) { builder->port = port; }
void hdfsBuilderSetUserName(struct hdfsBuilder* builder, const char* name) { (void)builder, (void)name; }
void hdfsBuilderSetKerbTicketCachePath(struct hdfsBuilder* builder, const char* path) { (void)builder, (void)path; }
void hdfsBuilderSetForceNewInstance(struct hdfsBuilder* builder) { (void)builder; }
int hdfsBuilderConfSetStr(struct hdfsBuilder* builder, const char* key, const char* value) {
  (void)builder, (void)key, (void)value;
  return 0;
}

hdfsFS hdfsBuilderConnect(struct hdfsBuilder* builder) {
  const char* root = getenv("HEADWAY_HDFS_STAND_IN");
  hdfsFS fs = NULL;
  if (root) {
    fs = calloc(1, sizeof *fs);
    snprintf(fs->root, sizeof fs->root, "%s", root);
    /* As Hadoop takes it: a host, or the URL of a filesystem. */
    snprintf(fs->authority, sizeof fs->authority, "%s%s:%d", strstr(builder->host, "://") ? "" : "hdfs://", builder->host,
             builder->port);
  } else {
    errno = ECONNREFUSED;
  }
  free(builder);
  return fs;
}

int hdfsDisconnect(hdfsFS fs) {
  free(fs);
  return 0;
}

int hdfsExists(hdfsFS fs, const char* path) {
  char place[PATH_MAX];
  return access(local_of(fs, path, place), F_OK);
}

static int make_directories(char* place) {
  for (char* slash = strchr(place + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    const int failed = mkdir(place, 0777) != 0 && errno != EEXIST;
    *slash = '/';
    if (failed) return -1;
  }
  return 0;
}

int hdfsCreateDirectory(hdfsFS fs, const char* path) {
  char place[PATH_MAX];
  struct stat found;
  if (make_directories(local_of(fs, path, place)) != 0) return -1;
  if (mkdir(place, 0777) == 0) return 0;
  if (errno != EEXIST || stat(place, &found) != 0) return -1;
  if (S_ISDIR(found.st_mode)) return 0;
  errno = ENOTDIR;
  return -1;
}

static int removed(const char* path, const struct stat* info, int kind, struct FTW* at) {
  (void)info, (void)kind, (void)at;
  return remove(path);
}

int hdfsDelete(hdfsFS fs, const char* path, int recursive) {
  char place[PATH_MAX];
  local_of(fs, path, place);
  return recursive ? nftw(place, removed, 16, FTW_DEPTH | FTW_PHYS) : remove(place);
}

int hdfsRename(hdfsFS fs, const char* from, const char* to) {
  char source[PATH_MAX], target[PATH_MAX];
  if (hdfsExists(fs, to) == 0) {
    errno = EEXIST;
    return -1;
  }
  return rename(local_of(fs, from, source), local_of(fs, to, target));
}

tOffset hdfsGetCapacity(hdfsFS fs) { return (void)fs, (tOffset)1 << 40; }
tOffset hdfsGetUsed(hdfsFS fs) { return (void)fs, 0; }
tOffset hdfsGetDefaultBlockSize(hdfsFS fs) { return (void)fs, (tOffset)128 << 20; }

char* hdfsGetWorkingDirectory(hdfsFS fs, char* buffer, size_t size) {
  return (size_t)snprintf(buffer, size, "%s/", fs->authority) < size ? buffer : NULL;
}

int hdfsChown(hdfsFS fs, const char* path, const char* owner, const char* group) {
  return (void)fs, (void)path, (void)owner, (void)group, 0;
}

int hdfsChmod(hdfsFS fs, const char* path, short mode) { return (void)fs, (void)path, (void)mode, 0; }

static int describe(hdfsFS fs, const char* path, hdfsFileInfo* info) {
  char place[PATH_MAX];
  struct stat found;
  if (stat(local_of(fs, path, place), &found) != 0) return -1;
  info->mKind = S_ISDIR(found.st_mode) ? kObjectKindDirectory : kObjectKindFile;
  const char* slash = *path == '/' ? "" : "/";
  if (asprintf(&info->mName, "%s%s%s", strstr(path, "://") ? "" : fs->authority, strstr(path, "://") ? "" : slash, path) < 0)
    return -1;
  info->mSize = S_ISDIR(found.st_mode) ? 0 : found.st_size;
  info->mLastMod = found.st_mtime;
  info->mLastAccess = found.st_atime;
  info->mReplication = 1;
  info->mBlockSize = hdfsGetDefaultBlockSize(fs);
  info->mOwner = strdup("owner");
  info->mGroup = strdup("group");
  info->mPermissions = (short)(found.st_mode & 0777);
  return 0;
}

hdfsFileInfo* hdfsGetPathInfo(hdfsFS fs, const char* path) {
  hdfsFileInfo* info = calloc(1, sizeof *info);
  if (describe(fs, path, info) == 0) return info;
  free(info);
  return NULL;
}

void hdfsFreeFileInfo(hdfsFileInfo* infos, int count) {
  for (int index = 0; index < count; ++index) {
    free(infos[index].mName);
    free(infos[index].mOwner);
    free(infos[index].mGroup);
  }
  free(infos);
}

hdfsFileInfo* hdfsListDirectory(hdfsFS fs, const char* path, int* count) {
  char place[PATH_MAX], child[2 * PATH_MAX];
  hdfsFileInfo* infos = NULL;
  *count = 0;
  DIR* directory = opendir(local_of(fs, path, place));
  if (!directory) {
    if (errno == ENOTDIR && (infos = hdfsGetPathInfo(fs, path))) *count = 1;
    return infos;
  }
  for (struct dirent* entry = readdir(directory); entry; entry = readdir(directory)) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    infos = reallocarray(infos, (size_t)*count + 1, sizeof *infos);
    memset(&infos[*count], 0, sizeof *infos);
    snprintf(child, sizeof child, "%s%s%s", path, path[strlen(path) - 1] == '/' ? "" : "/", entry->d_name);
    /* Another process may have removed it meanwhile. */
    if (describe(fs, child, &infos[*count]) == 0) ++*count;
  }
  closedir(directory);
  errno = 0;
  if (*count == 0) {
    free(infos);
    return NULL;
  }
  return infos;
}

hdfsFile hdfsOpenFile(hdfsFS fs, const char* path, int flags, int buffer, short replication, tSize block) {
  (void)buffer, (void)replication, (void)block;
  char place[PATH_MAX];
  local_of(fs, path, place);
  int descriptor = -1;
  if ((flags & O_ACCMODE) == O_RDONLY) {
    struct stat found;
    descriptor = open(place, O_RDONLY | O_CLOEXEC);
    if (descriptor >= 0 && fstat(descriptor, &found) == 0 && S_ISDIR(found.st_mode)) {
      close(descriptor);
      errno = ENOENT; /* Hadoop: FileNotFoundException, "Path is not a file". */
      return NULL;
    }
  } else if (make_directories(place) == 0) {
    descriptor = open(place, O_WRONLY | O_CREAT | O_CLOEXEC | (flags & O_APPEND ? O_APPEND : O_TRUNC), 0666);
  }
  if (descriptor < 0) return NULL;
  hdfsFile file = calloc(1, sizeof *file);
  file->descriptor = descriptor;
  return file;
}

int hdfsCloseFile(hdfsFS fs, hdfsFile file) {
  (void)fs;
  const int closed = close(file->descriptor);
  free(file);
  return closed;
}

tSize hdfsRead(hdfsFS fs, hdfsFile file, void* buffer, tSize length) {
  return (void)fs, (tSize)read(file->descriptor, buffer, (size_t)length);
}

tSize hdfsPread(hdfsFS fs, hdfsFile file, tOffset position, void* buffer, tSize length) {
  return (void)fs, (tSize)pread(file->descriptor, buffer, (size_t)length, position);
}

tSize hdfsWrite(hdfsFS fs, hdfsFile file, const void* buffer, tSize length) {
  return (void)fs, (tSize)write(file->descriptor, buffer, (size_t)length);
}

int hdfsFlush(hdfsFS fs, hdfsFile file) { return (void)fs, (void)file, 0; }
int hdfsHFlush(hdfsFS fs, hdfsFile file) { return (void)fs, fsync(file->descriptor); }
int hdfsSeek(hdfsFS fs, hdfsFile file, tOffset position) {
  return (void)fs, lseek(file->descriptor, position, SEEK_SET) < 0 ? -1 : 0;
}
tOffset hdfsTell(hdfsFS fs, hdfsFile file) { return (void)fs, lseek(file->descriptor, 0, SEEK_CUR); }
