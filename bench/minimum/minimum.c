/* What the system makes a recorded run pay: read the state under a lock, start a command and wait for it, write the state anew under
 * the lock, synced and renamed. It decides nothing. minimum STATE COMMAND... */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

static char *lock_path, *temp_path, state[1 << 20];

static int must(int result, const char *what)
{
	if (result < 0) {
		perror(what);
		exit(125);
	}
	return result;
}

static int lock(void)
{
	int fd = must(open(lock_path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600), "open the lock");
	must(flock(fd, LOCK_EX), "lock");
	return fd;
}

static ssize_t read_state(const char *path)
{
	int fd = must(open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), "open the state");
	ssize_t n, size = 0;
	while ((n = must(read(fd, state + size, sizeof state - size), "read")) > 0)
		size += n;
	must(close(fd), "close the state");
	return size;
}

static void write_state(const char *path, ssize_t size)
{
	int fd = must(open(temp_path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600), "create");
	if (must(write(fd, state, size), "write") != size) {
		fprintf(stderr, "short write\n");
		exit(125);
	}
	must(fdatasync(fd), "sync");
	must(close(fd), "close");
	must(rename(temp_path, path), "rename");
}

static int run(char **command)
{
	int status;
	pid_t child = vfork();
	if (child == 0) {
		execvp(command[0], command);
		_exit(127);
	}
	must(child, "start");
	must(waitpid(child, &status, 0), "wait");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "minimum STATE COMMAND...\n");
		return 125;
	}
	must(asprintf(&lock_path, "%s.lock", argv[1]), "name the lock");
	must(asprintf(&temp_path, "%s.tmp", argv[1]), "name the file to write");

	int fd = lock();
	read_state(argv[1]);
	must(close(fd), "unlock");

	int code = run(argv + 2);

	fd = lock();
	write_state(argv[1], read_state(argv[1]));
	must(close(fd), "unlock");
	return code;
}
