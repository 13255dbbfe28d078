/*
 * A tree of calls: nodes in an array, callers before what they call. A node has the values that are its own, and the
 * totals with all below it; `place` is the number of its function, or one of these.
 */
const FLAME_ROOT = -1, FLAME_CUT = -2, FLAME_FOLD = -3;

function flameNode(parent, place, of) {
	const node = { parent, place, of, kids: [], byKey: new Map(), own: {}, total: {}, depth: parent ? parent.depth + 1 : 0 };
	if (parent)
		parent.kids.push(node);
	return node;
}

/* The child of that key, made on first use. */
function flameChild(nodes, parent, key, place, of) {
	let node = parent.byKey.get(key);
	if (!node) {
		node = flameNode(parent, place, of);
		parent.byKey.set(key, node);
		nodes.push(node);
	}
	return node;
}

function flameAdd(to, more) {
	for (const name in more)
		to[name] = (to[name] || 0) + more[name];
}

/* Totals, callees before their callers. */
function flameTotals(nodes) {
	for (let i = nodes.length - 1; i >= 0; i--) {
		flameAdd(nodes[i].total, nodes[i].own);
		if (nodes[i].parent)
			flameAdd(nodes[i].parent.total, nodes[i].total);
	}
	return nodes;
}

/* What the page calls by other names: the time on a CPU is what is left of all of it. */
function flameValues(view, names, i) {
	const own = {};
	for (const name of names)
		own[name] = view[name][i];
	for (const of of ["", "a_"]) /* in a comparison A's are beside B's */
		if (of + "waiting" in own)
			own[of + "cpu"] = own[of + "wall"] - own[of + "waiting"] - own[of + "preempted"];
	return own;
}

/* The page's data with its packed numbers as lists. */
function flameData(data) {
	const values = view => Object.fromEntries(data.values.map(name => [name, numbersOf(view[name])]));
	const unpacked = views => (views || []).map(view => ({ ...view, paths: signedOf(view.paths), ...values(view) }));
	return { ...data, parents: numbersOf(data.parents), functions: numbersOf(data.functions), views: unpacked(data.views), task_views: unpacked(data.task_views) };
}

/* The tree of some views together. Paths that have no value in them are left out. */
function flameTree(data, views) {
	const sums = new Map();
	for (const view of views)
		view.paths.forEach((path, i) => {
			if (!sums.has(path))
				sums.set(path, {});
			flameAdd(sums.get(path), flameValues(view, data.values, i));
		});
	const used = new Set([0]);
	for (const path of sums.keys())
		for (let at = path < 0 ? ~path : path; !used.has(at); at = data.parents[at])
			used.add(at);
	const nodes = [], made = new Map();
	for (let i = 0; i < data.parents.length; i++) {
		if (!used.has(i))
			continue;
		const place = i ? data.functions[i] : FLAME_ROOT;
		const node = flameNode(i ? made.get(data.parents[i]) : null, place, i ? data.places[place][3] : "");
		made.set(i, node);
		nodes.push(node);
		flameAdd(node.own, sums.get(i) || {});
	}
	for (const [path, own] of sums)
		if (path < 0) {
			const cut = flameNode(made.get(~path), FLAME_CUT, "cut");
			flameAdd(cut.own, own);
			nodes.push(cut);
		}
	return flameTotals(nodes);
}

/* The same values on other paths: `to` says where a node belongs whose caller became `parent`. */
function flameMoved(nodes, to) {
	const made = new Map(), out = [flameNode(null, FLAME_ROOT, "")];
	for (const node of nodes) {
		const at = node.parent ? to(out, made.get(node.parent), node) : out[0];
		made.set(node, at);
		flameAdd(at.own, node.own);
	}
	return flameTotals(out);
}

/* Recursion merged: what a function calls when it is open already is where it was first. */
function flameRecursion(nodes) {
	return flameMoved(nodes, (out, parent, node) => {
		for (let at = parent; at && node.place >= 0; at = at.parent)
			if (at.place === node.place)
				return at;
		return flameChild(out, parent, node.place, node.place, node.of);
	});
}

/* Libraries folded: calls within one kind of code that is not the program's are one node. */
function flameFolded(nodes) {
	return flameMoved(nodes, (out, parent, node) => {
		if (node.place < 0 || node.of === "own")
			return flameChild(out, parent, node.place, node.place, node.of);
		if (parent.place === FLAME_FOLD && parent.of === node.of)
			return parent;
		return flameChild(out, parent, node.of, FLAME_FOLD, node.of);
	});
}

/*
 * What tasks of one coroutine did, wherever it was: a task's coroutine is the outermost one on a path, `tasks` has the
 * functions of all of them.
 */
function flameTasks(nodes, place, tasks) {
	const made = new Map(), inside = new Set(), out = [flameNode(null, FLAME_ROOT, "")];
	for (const node of nodes) {
		const begins = node.place === place && !inside.has(node.parent), above = begins ? out[0] : made.get(node.parent);
		if (inside.has(node.parent) || tasks.has(node.place))
			inside.add(node);
		if (!above)
			continue;
		const at = flameChild(out, above, node.place, node.place, node.of);
		made.set(node, at);
		flameAdd(at.own, node.own);
	}
	return flameTotals(out);
}

/* The sum of `value` over nodes that match, without those below another that matches, and how many there are. */
function flameMatches(root, value, matches) {
	let sum = 0, n = 0;
	const todo = [[root, false]];
	while (todo.length) {
		const [node, inside] = todo.pop(), hit = matches(node);
		n += hit;
		if (hit && !inside)
			sum += node.total[value];
		for (const kid of node.kids)
			todo.push([kid, inside || hit]);
	}
	return { sum, n };
}

/* Is a node below another of the same function? */
function flameIsInner(node) {
	for (let at = node.parent; at; at = at.parent)
		if (at.place === node.place)
			return true;
	return false;
}

/* A function on all its paths: its own, its total (recursion counted once), callers and callees with their totals. */
function flameFunction(nodes, place) {
	const sum = { own: {}, total: {}, callers: new Map(), callees: new Map() };
	const add = (map, key, values) => {
		if (!map.has(key))
			map.set(key, {});
		flameAdd(map.get(key), values);
	};
	for (const node of nodes) {
		if (node.place !== place)
			continue;
		flameAdd(sum.own, node.own);
		if (!flameIsInner(node))
			flameAdd(sum.total, node.total);
		add(sum.callers, node.parent.place, node.total);
		for (const kid of node.kids)
			add(sum.callees, kid.place, kid.total);
	}
	return sum;
}
