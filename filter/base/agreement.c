// SPDX-License-Identifier: MIT
#include "agreement.h"

void agreement_init(struct agreement *a)
{
	*a = (struct agreement){ .least = UINT64_MAX };
	pthread_mutex_init(&a->mutex, NULL);
	pthread_cond_init(&a->reached, NULL);
}

void agreement_enter(struct agreement *a)
{
	a->awaited++;
}

/* The mutex is held. */
static void count_one(struct agreement *a)
{
	if (!--a->awaited)
		pthread_cond_broadcast(&a->reached);
}

uint64_t agreement_reach(struct agreement *a, uint64_t mine)
{
	uint64_t least;

	pthread_mutex_lock(&a->mutex);
	a->least = mine < a->least ? mine : a->least;
	count_one(a);
	while (a->awaited)
		pthread_cond_wait(&a->reached, &a->mutex);
	least = a->least;
	pthread_mutex_unlock(&a->mutex);
	return least;
}

void agreement_leave(struct agreement *a)
{
	pthread_mutex_lock(&a->mutex);
	count_one(a);
	pthread_mutex_unlock(&a->mutex);
}

void agreement_destroy(struct agreement *a)
{
	pthread_cond_destroy(&a->reached);
	pthread_mutex_destroy(&a->mutex);
}
