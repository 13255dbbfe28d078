/* The function that was chosen in the flame graph: its figures, who calls it, what it calls, and where its source is. */
const FLAME_CALLERS = 10;

function flameLinkName(page, place) {
	if (place < 0)
		return document.createTextNode(place === FLAME_CUT ? "too small to show" : "(the thread)");
	const [name, where, whole] = page.placeText(place);
	return element("span", {},
		       element("button", { type: "button", class: "link", click: () => page.choose(place) }, name), " ",
		       element("span", { class: "file", title: whole }, where));
}

function flameRelatives(page, title, map, all) {
	const value = page.value, rows = [...map].map(([place, sum]) => [place, sum[value] || 0]).filter(row => row[1] > 0)
		.sort((a, b) => b[1] - a[1]);
	const table = element("table", {}, element("tbody", {}, ...rows.slice(0, FLAME_CALLERS).map(([place, n]) =>
		element("tr", {},
			element("td", { class: "share", style: `--part:${100 * n / all}%` }, shareText(n / all)),
			element("td", { class: "n" }, page.figure(value, n)),
			element("td", {}, flameLinkName(page, place))))));
	const more = rows.length > FLAME_CALLERS ? element("p", { class: "note" }, `and ${rows.length - FLAME_CALLERS} more`) : "";
	return element("div", {}, element("h3", {}, title), rows.length ? table : element("p", { class: "note" }, "none"), more);
}

/* Its heading, figures and links, and both tables: shares are of its total. */
function flameFunctionTable(page, place) {
	const sum = flameFunction(page.plain, place), [name, where, whole] = page.placeText(place);
	const all = sum.total[page.value] || 1, source = document.querySelector(`[data-function="${place}"]`);
	const figures = page.values().map(value =>
		element("div", {}, element("dt", {}, page.names[value]),
			element("dd", {}, page.figure(value, sum.total[value] || 0), element("span", { class: "file" },
				` own ${page.figure(value, sum.own[value] || 0)}`))));
	return [element("h3", { class: "chosen" }, element("code", { class: "name" }, name), " ",
			element("span", { class: "file", title: whole }, where), " ",
			source ? element("a", { href: "#" + source.id }, "source") : "", " ",
			element("button", { type: "button", click: () => page.mark(name) }, "mark in the graph")),
		page.judgement(place),
		element("dl", { class: "facts" }, ...figures),
		element("div", { class: "pair" }, flameRelatives(page, "Called by", sum.callers, all),
			flameRelatives(page, "Calls", sum.callees, all))];
}
