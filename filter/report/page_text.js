/* Elements, and figures as people read them. Text from the recording goes in as text only, never as markup. */
function element(name, attributes, ...children) {
	const made = document.createElement(name);
	for (const [key, value] of Object.entries(attributes || {}))
		if (typeof value === "function")
			made.addEventListener(key, value);
		else if (value !== false)
			made.setAttribute(key, value === true ? "" : value);
	made.append(...children);
	return made;
}

/* Three digits or four, as in the tables: 1.23 ms. */
function durationText(ns) {
	for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["us", 1e3]])
		if (ns >= size)
			return (ns / size).toFixed(ns >= 100 * size ? 1 : ns >= 10 * size ? 2 : 3) + " " + unit;
	return Math.round(ns) + " ns";
}

/* One for all: toLocaleString() makes its own each time, which takes longer than all else about a rectangle. */
const NUMBERS = new Intl.NumberFormat("en-US");

function numberText(n) {
	return NUMBERS.format(Math.round(n));
}

function shareText(part) {
	return (100 * part).toFixed(part > 0 && part < 0.001 ? 3 : 1) + " %";
}

function plural(n, one) {
	return numberText(n) + " " + one + (n === 1 ? "" : "s");
}
