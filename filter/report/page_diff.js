/*
 * The differential flame graph: as wide as in B (or in A), coloured by what the comparison says of the function, which is
 * the text's verdict and no other. A path's own totals have no spread to judge by: their change is said, and colours if
 * that is wanted.
 */
const DIFF_NAMES = Object.fromEntries(["", "a_"].flatMap(side =>
	Object.entries(FLAME_NAMES).map(([key, name]) => [side + key, name + (side ? " of A" : " of B")])));
const DIFF_WORDS = { slower: "slower", faster: "faster", noise: "within the noise", same: "the same",
		     few: "not judged, timed too rarely", gone: "only in A", new: "only in B" };
const DIFF_STEPS = [0.1, 0.5]; /* less, and more than that: three colours each */

function diffPercent(change) {
	return (change < 0 ? "\u2212" : "+") + (100 * Math.abs(change)).toFixed(Math.abs(change) < 1 ? 1 : 0) + " %";
}

/* slower1 to slower3, faster1 to faster3. */
function diffStep(change) {
	return (change > 0 ? "slower" : "faster") + (1 + DIFF_STEPS.filter(step => Math.abs(change) > step).length);
}

class DiffPage extends FlamePage {
	constructor(section, data) {
		super(section, data);
		for (const link of document.querySelectorAll("[data-place]"))
			link.addEventListener("click", () => this.find.value === "" && this.choose(Number(link.dataset.place)));
	}

	valueNames() {
		return DIFF_NAMES;
	}

	moreControls() {
		this.colour = element("select", { change: () => this.view.draw(), id: "flame-colour" },
				      element("option", { value: "judged" }, "the function, beyond the noise"),
				      element("option", { value: "path" }, "the path's total, not judged"));
		return [element("label", {}, "Colour ", this.colour)];
	}

	judged(place) {
		return place >= 0 ? this.data.places[place][4] : null;
	}

	/* Of a path: how much more the value is in B; null: one of them has none. */
	change(node) {
		const value = this.value.replace("a_", ""), a = node.total["a_" + value] || 0, b = node.total[value] || 0;
		return a && b ? b / a - 1 : null;
	}

	kind(node) {
		if (this.colour.value === "path") {
			const change = this.change(node);
			return change === null ? "d-new" : change ? "d-" + diffStep(change) : "d-same";
		}
		const pair = this.judged(node.place);
		if (!pair)
			return "d-few";
		return "d-" + (pair[0] === "slower" || pair[0] === "faster" ? pair[3] > 0 ? diffStep(pair[1]) : pair[0] + "3" : pair[0]);
	}

	legend() {
		const all = [["slower1", "slower by up to 10 %"], ["slower2", "to 50 %"], ["slower3", "more"], ["faster1", "faster by up to 10 %"],
			     ["faster2", "to 50 %"], ["faster3", "more"], ["noise", "within the noise, or the same"], ["few", "not judged"],
			     ["new", "only in one"]];
		return element("p", { class: "legend" }, ...all.map(([key, name]) => element("span", {}, element("i", { class: "d-" + key }), name)));
	}

	/* What changed beyond the noise is in the name, too: colours are not for all eyes. */
	changed(node) {
		const pair = this.judged(node.place), tells = pair && (pair[0] === "slower" || pair[0] === "faster") && pair[3] > 0;
		return tells ? " " + diffPercent(pair[1]) : "";
	}

	verdict(place) {
		const pair = this.judged(place);
		if (!pair)
			return "";
		const [verdict, change, error, a, b] = pair, tells = !["new", "gone", "few"].includes(verdict);
		return DIFF_WORDS[verdict] + (tells ? ", " + (a > 0 ? `${diffPercent(change)} \u00b1 ${(100 * error).toFixed(1)} %` : "from nothing") +
			` (${numberText(a)} \u2192 ${numberText(b)} ${this.data.unit})` : "");
	}

	describe(node, share) {
		const verdict = this.verdict(node.place);
		return super.describe(node, share) + (verdict ? "; " + verdict : "");
	}

	/* The path on both sides. */
	show(node) {
		super.show(node);
		const change = this.change(node);
		this.line.textContent += change === null ? "" : `; this path's total: ${diffPercent(change)} from A to B, not judged`;
	}

	judgement(place) {
		return element("p", { id: "flame-verdict" }, this.verdict(place) || "not among the functions that were compared");
	}

	tellCut() {
		const part = side => {
			let sum = 0;
			for (const node of this.plain)
				sum += node.place === FLAME_CUT ? node.own[side + "wall"] || 0 : 0;
			return shareText(sum / (this.plain[0].total[side + "wall"] || 1));
		};
		this.cut.textContent = `What is less than 1/${numberText(this.data.parts)} of a run is cut: ${part("a_")} of A's wall time and ` +
			`${part("")} of B's, hatched. Click or Enter zooms, Escape goes back, arrows go from function to function. ` +
			"Colours are what the table says of the function, on whatever path.";
	}
}
