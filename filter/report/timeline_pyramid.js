/*
 * What each thread did when, as pyramid.h has it: level 0 has columns, level 1 pairs of them, and so on. A span of
 * columns is the sum of a few blocks, so that no span takes longer than another.
 */
const PYRAMID_VALUES = ["wall", "waiting", "preempted", "calls"];

class Pyramid {
	constructor(levels, columns) {
		this.columns = columns;
		this.names = PYRAMID_VALUES.filter(name => levels.every(level => name in level));
		this.levels = levels.map(level => ({ blocks: numbersOf(level.blocks), counts: numbersOf(level.counts), of: signedOf(level.of),
						     values: this.names.map(name => numbersOf(level[name])) }));
		this.places = this.levels.map(level => {
			const at = new Map();
			let block = -1, from = 0;
			level.blocks.forEach((step, i) => {
				block += step;
				at.set(block, [from, from + level.counts[i]]);
				from += level.counts[i];
			});
			return at;
		});
	}

	/* Calls visit(of, its wall time, its number in the level) for what is in a block: a path, or a function + 1; ~of: smaller ones below it. */
	block(level, block, visit) {
		const [from, until] = this.places[level].get(block) || [0, 0], { of, values } = this.levels[level];
		for (let i = from; i < until; i++)
			visit(of[i], values[0][i], i);
	}

	/* The blocks that columns from <= c < until consist of: [level, block]. */
	parts(from, until) {
		const all = [], top = this.levels.length - 1;
		if (until >= this.columns) /* behind the last column there is nothing */
			until = 1 << top;
		for (let at = from; at < until;) {
			let level = 0;
			while (level < top && at % (2 << level) === 0 && at + (2 << level) <= until)
				level++;
			all.push([level, at >> level]);
			at += 1 << level;
		}
		return all;
	}

	/* Adds the values in the span of each path, or function, to the map, in the order of `names`. */
	add(sums, from, until) {
		for (const [level, block] of this.parts(from, until))
			this.block(level, block, (of, ns, i) => {
				const sum = sums.get(of) || sums.set(of, this.names.map(() => 0)).get(of);
				this.levels[level].values.forEach((values, k) => { sum[k] += values[i]; });
			});
	}
}

/* A view of the flame graph (html_flame.c) of those sums. */
function pyramidView(sums, names) {
	const view = { name: "span", paths: [...sums.keys()] };
	names.forEach((name, k) => { view[name] = [...sums.values()].map(of => of[k]); });
	return view;
}
