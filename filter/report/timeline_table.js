/* The functions of a marked span: those with most of their own, and all that has no row, so that the rows add up. */
const TIMELINE_ROWS = 15;

class TimelineTable {
	constructor(flame) {
		this.flame = flame;
	}

	/* What the shares are of, and the other columns. */
	columns() {
		const has = this.flame.values(), others = ["wall", "cpu", "calls"].filter(name => has.includes(name));
		return { value: this.flame.value, others };
	}

	/* Narrow screens have no room for these. */
	narrow(name) {
		return name === "cpu" ? " wide" : "";
	}

	row(what, own) {
		const { value, others } = this.columns(), { flame } = this, whole = flame.plain[0].total[value] || 1, share = (own[value] || 0) / whole;
		const cells = others.map(name => element("td", { class: "n" + this.narrow(name) }, flame.figure(name, own[name] || 0)));
		return element("tr", {}, element("td", { class: "share", style: `--part:${100 * share}%` }, shareText(share)), ...cells, element("td", {}, what));
	}

	/* Of each function its own values, FLAME_CUT: of what is too small; of the span, or of the tasks that the flame graph is of. */
	functions() {
		const { flame } = this, sums = new Map(), add = (place, own) => flameAdd(sums.get(place) || sums.set(place, {}).get(place), own);
		if (flame.ofTasks)
			flame.plain.forEach(node => add(node.place, node.own));
		else
			this.span.paths.forEach((of, i) => add(of > 0 ? of - 1 : FLAME_CUT, flameValues(this.span, this.names, i)));
		return sums;
	}

	/* The first rows, and of all that has none: what all other functions have, and what is too small to be any function's. */
	rows() {
		const { value } = this.columns(), { flame } = this, sums = this.functions(), cut = sums.get(FLAME_CUT) || {};
		const all = [...sums].filter(([place]) => place >= 0).sort((a, b) => (b[1][value] || 0) - (a[1][value] || 0) || (b[1].wall || 0) - (a[1].wall || 0));
		const beyond = all.slice(TIMELINE_ROWS), sum = {};
		beyond.forEach(([, own]) => flameAdd(sum, own));
		return [...all.slice(0, TIMELINE_ROWS).map(([place, own]) => this.row(flameLinkName(flame, place), own)),
			...(beyond.length ? [this.row(plural(beyond.length, "other function"), sum)] : []),
			...(Object.values(cut).some(n => n) ? [this.row("too small to be told apart", cut)] : [])];
	}

	/* `span`: a view of functions, as pyramidView() makes it. */
	build(span, names) {
		Object.assign(this, { span, names });
		const { value, others } = this.columns(), { flame } = this;
		const head = [["share", ""], ...others.map(name => [name === "calls" ? "calls" : "self " + { wall: "wall", cpu: "CPU" }[name], this.narrow(name)]),
			      ["function", "t"]];
		return [element("h3", {}, `In this span: ${durationText(flame.plain[0].total.wall || 0)} in functions, shares of its ${flame.names[value]}`),
			element("div", { class: "scroll" }, element("table", {},
				element("thead", {}, element("tr", {}, ...head.map(([text, kind]) => element("th", { class: kind }, text)))),
				element("tbody", {}, ...this.rows())))];
	}
}
