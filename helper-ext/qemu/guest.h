/* SPDX-License-Identifier: MIT */
/*
 * guest.h - how guest.c, in the emulated program, talks to plugin.c, in the emulator: by system calls that Linux does
 * not have, and by register values for one that it has. All return -ENOSYS.
 */
#pragma once

/* The emulated clocks: core.h. */
#define GUEST_CTC_HZ	  25000000u
#define GUEST_TSC_PER_CTC 40u

enum guest_call {
	/* (beginning and end of our own code; addresses of the handlers of SIGILL and of other signals) */
	GUEST_HERE = 0x4f434c01,
	/* (where the program was when the signal came) */
	GUEST_SIGNAL = 0x4f434c02,
};

/*
 * The handler of PTWRITE ends with rt_sigreturn(word, address of the PTWRITE, its bytes: 4 or 8): Linux ignores the
 * arguments of that system call.
 */
