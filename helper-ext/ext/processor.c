/* SPDX-License-Identifier: MIT */
/* processor.c - see processor.h. */
#include <stdio.h>
#include <unistd.h>

#include "arch/arch.h"
#include "processor.h"

/* A cap's file is "1\n"; a kernel that does not know the cap has no such file. */
static bool has_cap(const char *pmu, const char *cap)
{
	char path[4096], first = '0';
	FILE *f;

	snprintf(path, sizeof(path), "%s/caps/%s", pmu, cap);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (fread(&first, 1, 1, f) != 1)
		first = '0';
	fclose(f);
	return first == '1';
}

void processor_look(struct processor *p, const char *pmu)
{
	*p = (struct processor){ 0 };
	arch_look(&p->pt, &p->ptwrite, &p->tsc_hz);
	p->kernel = access(pmu, F_OK) == 0;
	p->kernel_ptwrite = p->kernel && has_cap(pmu, "ptwrite");
}
