/* SPDX-License-Identifier: MIT */
/*
 * stepper.c - the instructions of a program's own code that really run, one by one, by ptrace(2): a witness
 * that has nothing in common with the emulator.
 *
 *   stepper PROGRAM [ARGS]    prints each address, hexadecimal, relative to where PROGRAM is mapped
 */
#include <elf.h>
#include <signal.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* First and last mapping of the program (proc(5)). */
static void find_program(pid_t pid, const char *program, uint64_t *from, uint64_t *to)
{
	char path[64], line[512], real[4096];
	unsigned long start, end;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "r");
	*from = *to = 0;
	while (maps && realpath(program, real) && fgets(line, sizeof(line), maps))
		if (strstr(line, real) && sscanf(line, "%lx-%lx", &start, &end) == 2) {
			*from = *from ? *from : start;
			*to = end;
		}
	if (maps)
		fclose(maps);
}

int main(int argc, char **argv)
{
	struct user_regs_struct regs;
	uint64_t from, to, last = 0;
	int status;
	pid_t pid;

	if (argc < 2)
		return 2;
	pid = fork();
	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execv(argv[1], argv + 1);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	find_program(pid, argv[1], &from, &to);
	while (WIFSTOPPED(status)) {
		ptrace(PTRACE_GETREGS, pid, NULL, &regs);
		/* A step over one element of a REP is no instruction of its own. */
		if (regs.rip >= from && regs.rip < to && regs.rip != last)
			printf("%" PRIx64 "\n", (uint64_t)regs.rip - from);
		last = regs.rip;
		/* A processor may refuse PTWRITE: it counts as executed. ptwrite %rax is 5 bytes long. */
		if (WSTOPSIG(status) == SIGILL) {
			regs.rip += 5;
			ptrace(PTRACE_SETREGS, pid, NULL, &regs);
			status = SIGTRAP << 8 | 0x7f;
			continue;
		}
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) < 0)
			break;
		waitpid(pid, &status, 0);
	}
	return 0;
}
