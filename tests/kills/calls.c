/* Stands between a process and the C library (LD_PRELOAD): counts the calls that change the file system, writes down
   each one, and sends the process a signal before a given one. Calls on what is no file (pipes, terminals) are not counted. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static long *counter = 0;   /* shared with the process that started this one */
static long limit = 0;      /* the signal comes before this call; never where it is 0 */
static int number_sent = SIGKILL;
static int journal = -1;    /* where calls are written down; nowhere where it is negative */

void arm(long *shared, long before, int number, int written_to) {
    limit = before;
    number_sent = number;
    journal = written_to;
    __atomic_store_n(&counter, shared, __ATOMIC_SEQ_CST);
}

static void name_of(int fd, char *name) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, name, PATH_MAX - 1);
    name[length < 0 ? 0 : length] = 0;
}

static void about_to(const char *call, const char *one, const char *two) {
    if (!counter) return;
    long number = __atomic_add_fetch(counter, 1, __ATOMIC_SEQ_CST);
    if (number == limit) {
        syscall(SYS_kill, getpid(), number_sent);
        while (number_sent == SIGKILL) pause();
    }
    if (journal >= 0) {
        char line[3 * PATH_MAX];
        int length = snprintf(line, sizeof line, "%s\t%s\t%s\n", call, one, two);
        syscall(SYS_write, journal, line, (size_t)length);
    }
}

static int changes(int fd) {
    struct stat status;
    return counter && fd != journal && fd > 2 && fstat(fd, &status) == 0 && (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode));
}

static void on_file(const char *call, int fd) {
    if (!changes(fd)) return;
    char name[PATH_MAX];
    name_of(fd, name);
    about_to(call, name, "");
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define OPENED(flags) ((flags) & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC))
#define MODE(flags) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | O_TMPFILE)) { va_list rest; va_start(rest, flags); mode = va_arg(rest, mode_t); va_end(rest); }

static int device(const char *path) { return strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0; }

int open(const char *path, int flags, ...) {
    MODE(flags)
    if (OPENED(flags) && !device(path)) about_to("open", path, "");
    return REAL(open)(path, flags, mode);
}
int open64(const char *path, int flags, ...) {
    MODE(flags)
    if (OPENED(flags) && !device(path)) about_to("open", path, "");
    return REAL(open64)(path, flags, mode);
}
int openat(int folder, const char *path, int flags, ...) {
    MODE(flags)
    if (OPENED(flags) && !device(path)) about_to("open", path, "");
    return REAL(openat)(folder, path, flags, mode);
}
int openat64(int folder, const char *path, int flags, ...) {
    MODE(flags)
    if (OPENED(flags) && !device(path)) about_to("open", path, "");
    return REAL(openat64)(folder, path, flags, mode);
}
int creat(const char *path, mode_t mode) { about_to("open", path, ""); return REAL(creat)(path, mode); }
FILE *fopen(const char *path, const char *how) {
    if (strpbrk(how, "wa+") && !device(path)) about_to("open", path, "");
    return REAL(fopen)(path, how);
}
FILE *fopen64(const char *path, const char *how) {
    if (strpbrk(how, "wa+") && !device(path)) about_to("open", path, "");
    return REAL(fopen64)(path, how);
}

ssize_t write(int fd, const void *data, size_t size) { on_file("write", fd); return REAL(write)(fd, data, size); }
ssize_t pwrite(int fd, const void *data, size_t size, off_t at) { on_file("write", fd); return REAL(pwrite)(fd, data, size, at); }
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) { on_file("write", fd); return REAL(pwrite64)(fd, data, size, at); }
ssize_t writev(int fd, const struct iovec *parts, int count) { on_file("write", fd); return REAL(writev)(fd, parts, count); }
int ftruncate(int fd, off_t size) { on_file("truncate", fd); return REAL(ftruncate)(fd, size); }
int ftruncate64(int fd, off64_t size) { on_file("truncate", fd); return REAL(ftruncate64)(fd, size); }
int posix_fallocate(int fd, off_t at, off_t size) { on_file("truncate", fd); return REAL(posix_fallocate)(fd, at, size); }
int fsync(int fd) { on_file("fsync", fd); return REAL(fsync)(fd); }
int fdatasync(int fd) { on_file("fsync", fd); return REAL(fdatasync)(fd); }
int fchmod(int fd, mode_t mode) { on_file("chmod", fd); return REAL(fchmod)(fd, mode); }

int chmod(const char *path, mode_t mode) { about_to("chmod", path, ""); return REAL(chmod)(path, mode); }
int rename(const char *from, const char *to) { about_to("rename", from, to); return REAL(rename)(from, to); }
int renameat(int one, const char *from, int two, const char *to) { about_to("rename", from, to); return REAL(renameat)(one, from, two, to); }
int link(const char *from, const char *to) { about_to("link", from, to); return REAL(link)(from, to); }
int linkat(int one, const char *from, int two, const char *to, int flags) { about_to("link", from, to); return REAL(linkat)(one, from, two, to, flags); }
int symlink(const char *from, const char *to) { about_to("symlink", from, to); return REAL(symlink)(from, to); }
int unlink(const char *path) { about_to("unlink", path, ""); return REAL(unlink)(path); }
int unlinkat(int folder, const char *path, int flags) { about_to("unlink", path, ""); return REAL(unlinkat)(folder, path, flags); }
int remove(const char *path) { about_to("unlink", path, ""); return REAL(remove)(path); }
int rmdir(const char *path) { about_to("rmdir", path, ""); return REAL(rmdir)(path); }
int mkdir(const char *path, mode_t mode) { about_to("mkdir", path, ""); return REAL(mkdir)(path, mode); }
int mkdirat(int folder, const char *path, mode_t mode) { about_to("mkdir", path, ""); return REAL(mkdirat)(folder, path, mode); }
