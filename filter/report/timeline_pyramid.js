/*
 * What each thread did when, as pyramid.h has it: level 0 has columns, level 1 pairs of them, and so on. A span of
 * columns is the sum of a few blocks, so that no span takes longer than another.
 */
const PYRAMID_VALUES = ["wall", "waiting", "preempted", "calls"];

class Pyramid {
	constructor(row, columns) {
		this.columns = columns;
		this.names = PYRAMID_VALUES.filter(name => row.levels.every(level => name in level));
		this.levels = row.levels.map(level => ({ blocks: numbersOf(level.blocks), counts: numbersOf(level.counts), paths: signedOf(level.paths),
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

	/* Calls visit(path, its wall time, its number in the level) for what is in a block; ~path: smaller ones below it. */
	block(level, block, visit) {
		const [from, until] = this.places[level].get(block) || [0, 0], { paths, values } = this.levels[level];
		for (let i = from; i < until; i++)
			visit(paths[i], values[0][i], i);
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

	/* Adds each path's values in the span to the map, in the order of `names`. */
	add(sums, from, until) {
		for (const [level, block] of this.parts(from, until))
			this.block(level, block, (path, ns, i) => {
				const of = sums.get(path) || sums.set(path, this.names.map(() => 0)).get(path);
				this.levels[level].values.forEach((values, k) => { of[k] += values[i]; });
			});
	}
}

/* A view of the flame graph (html_flame.c) of those sums. */
function pyramidView(sums, names) {
	const view = { name: "span", paths: [...sums.keys()] };
	names.forEach((name, k) => { view[name] = [...sums.values()].map(of => of[k]); });
	return view;
}

/* The functions of a tree by their own part of a value: [place, own values, total values], recursion counted once. */
function treeFunctions(nodes, value) {
	const all = new Map();
	for (const node of nodes) {
		if (node.place < 0)
			continue;
		const row = all.get(node.place) || all.set(node.place, [node.place, {}, {}]).get(node.place);
		flameAdd(row[1], node.own);
		if (!flameIsInner(node))
			flameAdd(row[2], node.total);
	}
	return [...all.values()].sort((a, b) => (b[1][value] || 0) - (a[1][value] || 0) || (b[2][value] || 0) - (a[2][value] || 0));
}
