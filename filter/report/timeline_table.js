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

	row(what, own, total) {
		const { value, others } = this.columns(), { flame } = this, whole = flame.plain[0].total[value] || 1, share = (own[value] || 0) / whole;
		const cells = others.map(name => element("td", { class: "n" + this.narrow(name) }, flame.figure(name, own[name] || 0)));
		return element("tr", {}, element("td", { class: "share", style: `--part:${100 * share}%` }, shareText(share)), ...cells,
			       element("td", { class: "n wide" }, total ? flame.figure("wall", total.wall || 0) : ""), element("td", {}, what));
	}

	sum(rows) {
		const sum = {};
		for (const [, own] of rows)
			flameAdd(sum, own);
		return sum;
	}

	/* Of all functions beyond the first rows, and of what is too small to be any function's. */
	rest(all) {
		const beyond = all.slice(TIMELINE_ROWS), cut = this.sum(this.flame.plain.filter(node => node.place === FLAME_CUT).map(node => [0, node.own]));
		return [...(beyond.length ? [this.row(plural(beyond.length, "other function"), this.sum(beyond))] : []),
			...(Object.values(cut).some(n => n) ? [this.row("too small to be told apart", cut)] : [])];
	}

	build() {
		const { value, others } = this.columns(), { flame } = this, all = treeFunctions(flame.plain, value);
		const rows = all.slice(0, TIMELINE_ROWS).map(([place, own, total]) => this.row(flameLinkName(flame, place), own, total));
		const head = [["share", ""], ...others.map(name => [name === "calls" ? "calls" : "self " + { wall: "wall", cpu: "CPU" }[name], this.narrow(name)]),
			      ["total wall", " wide"], ["function", "t"]];
		return [element("h3", {}, `In this span: ${durationText(flame.plain[0].total.wall || 0)} in functions, shares of its ${flame.names[value]}`),
			element("div", { class: "scroll" }, element("table", {},
				element("thead", {}, element("tr", {}, ...head.map(([text, kind]) => element("th", { class: kind }, text)))),
				element("tbody", {}, ...rows, ...this.rest(all))))];
	}
}
