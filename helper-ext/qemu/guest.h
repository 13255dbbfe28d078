/* SPDX-License-Identifier: MIT */
/*
 * guest.h - what guest.c, in the emulated program, tells plugin.c, in the emulator: by system calls that
 * no Linux has, and by what it puts into registers for one that Linux has. All return -ENOSYS.
 */
#pragma once

/* The emulated clocks: core.h. */
#define GUEST_CTC_HZ	  25000000u
#define GUEST_TSC_PER_CTC 40u

enum guest_call {
	/* (begin and end of our own code; addresses of the handlers of SIGILL and of other signals) */
	GUEST_HERE = 0x4f434c01,
	/* (where the program was when the signal came) */
	GUEST_SIGNAL = 0x4f434c02,
};

/*
 * The handler of PTWRITE ends by rt_sigreturn(word, address of the PTWRITE): Linux ignores the
 * arguments of that system call.
 */
