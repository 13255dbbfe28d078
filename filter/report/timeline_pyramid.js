/*
 * What each thread did when, as pyramid.h has it: level 0 has columns, level 1 pairs of them, and so on. A span of
 * columns is the sum of a few blocks, so that no span takes longer than another.
 */
class Pyramid {
	constructor(row, columns) {
		this.columns = columns;
		this.levels = row.levels;
		this.places = row.levels.map(level => {
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

	/* Calls visit(path, ns) for what is in a block; ~path: smaller ones below it. */
	block(level, block, visit) {
		const [from, until] = this.places[level].get(block) || [0, 0], { paths, ns } = this.levels[level];
		for (let i = from; i < until; i++)
			visit(paths[i], ns[i]);
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

	/* Adds each path's time in the span to the map. */
	add(sums, from, until) {
		for (const [level, block] of this.parts(from, until))
			this.block(level, block, (path, ns) => sums.set(path, (sums.get(path) || 0) + ns));
	}
}

/* A view of the flame graph (html_flame.c) of those sums. */
function pyramidView(sums) {
	return { name: "span", paths: [...sums.keys()], wall: [...sums.values()] };
}

/* The functions of a tree by their own time: [place, own, total], recursion counted once. */
function treeFunctions(nodes) {
	const own = new Map(), total = new Map(), add = (map, place, n) => map.set(place, (map.get(place) || 0) + n);
	for (const node of nodes) {
		if (node.place < 0)
			continue;
		add(own, node.place, node.own.wall || 0);
		if (!flameIsInner(node))
			add(total, node.place, node.total.wall);
	}
	return [...own].map(([place, n]) => [place, n, total.get(place) || 0]).sort((a, b) => b[1] - a[1] || b[2] - a[2]);
}
