/*
 * Threads over time: each column has the colour of the function that took most of it, as high as the part of the column
 * that was in functions, and pale at the top as far as the thread waited. A span that is marked, by pointer or keys, is what the flame graph and the table are of.
 */
const TIMELINE_HEIGHT = 24, TIMELINE_TICKS = 4, TIMELINE_PALE = 0.35;

class Timeline {
	constructor(section, data, flame) {
		this.data = data;
		this.flame = flame;
		this.rows = data.rows.map(row => ({ row, paths: new Pyramid(row.paths, data.columns), functions: new Pyramid(row.functions, data.columns), chosen: true }));
		this.names = this.rows.length ? this.rows[0].paths.names : [];
		this.rows.forEach(row => {
			row.most = this.most(row.functions);
			row.waiting = this.waiting(numbersOf(row.row.waiting));
		});
		this.tasks = new TimelineTasks(this, data.tasks);
		this.functions = new TimelineTable(flame);
		flame.rebuilt = () => this.tabulate();
		this.build(section);
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
		this.draw();
		this.mark(null);
	}

	/* Of each column: [the function with most of its time, -1 if none can be told apart, its time, all time in functions]. */
	most(pyramid) {
		const all = [];
		for (const block of pyramid.places[0].keys()) {
			let most = [-1, 0], sum = 0;
			pyramid.block(0, block, (of, ns) => {
				sum += ns;
				if (of > 0 && ns > most[1])
					most = [of - 1, ns];
			});
			all[block] = [...most, sum];
		}
		return all;
	}

	/* Of each column the part in which the thread waited. */
	waiting(runs) {
		const all = [];
		for (let i = 0; i < runs.length; i += 2)
			for (let n = 0; n < runs[i + 1]; n++)
				all.push(runs[i] / 1000);
		return all;
	}

	build(section) {
		const { columns, width, parts, of_columns } = this.data;
		this.said = element("output", { id: "timeline-said", class: "flame-line" });
		this.under = element("p", { class: "note", "aria-hidden": "true" }, "\u00a0");
		this.all = element("button", { type: "button", id: "timeline-all", click: () => this.mark(null) }, "Show all");
		this.table = element("div", { id: "timeline-functions" });
		this.area = element("div", { class: "timeline", id: "timeline-area", role: "group", tabindex: 0, keydown: event => this.key(event),
					     "aria-label": "Timeline of threads", "aria-describedby": "timeline-keys" },
				    ...this.rows.map(row => this.buildRow(row)), ...this.tasks.build(), this.axis());
		section.append(
			element("p", { class: "note", id: "timeline-keys" }, `${this.howMany()}, ${numberText(columns)} columns of ` +
				`${durationText(width)}: what took most of each, pale as far as it waited; empty: in no function. Drag to mark a span, or: arrows ` +
				"move it, with Shift its end, + and \u2212 narrow and widen it, Escape shows all. A click on a thread's name leaves it out of the span."),
			element("div", { class: "controls" }, this.all, this.said), this.area, this.tasks.legend(), this.under, this.table,
			element("p", { class: "note" }, `Functions that had less than 1/${parts[1]} of ${of_columns ? "a column" : "each part of the span"} by themselves have no row; in the flame graph paths ` +
				`with less than 1/${parts[0]} of each part of the span are added up below their caller.`));
	}

	/* The last row has all threads that have none of their own. */
	howMany() {
		const { others } = this.data, n = this.rows.length;
		return others ? `${plural(n - 1 + others, "thread")}, the ${n - 1} with most time in a row each, the other ${numberText(others)} in the last row` :
			plural(n, "thread");
	}

	buildRow(row) {
		const { name, pid, tid } = row.row, several = new Set(this.data.rows.filter(each => each.tid).map(each => each.pid)).size > 1;
		const number = tid ? (several ? pid + "/" : "") + tid : "";
		row.button = element("button", { type: "button", class: "link", "aria-pressed": "true", click: () => this.choose(row), title: `${name} ${number}` },
				     name, " ", element("span", { class: "file" }, number));
		row.canvas = element("canvas", { width: this.data.columns, height: TIMELINE_HEIGHT, role: "img", "aria-label": this.describe(row) });
		row.tell = column => this.describeColumn(row, column);
		row.track = this.buildTrack(row, row.canvas);
		return element("div", { class: "row" }, row.button, row.track);
	}

	buildTrack(row, canvas) {
		return element("div", { class: "track", pointerdown: event => this.begin(event, row), pointermove: event => this.move(event, row),
					pointerup: event => this.end(event, row) }, canvas, element("i", { class: "mark" }));
	}

	axis() {
		const ticks = [];
		for (let i = 0; i <= TIMELINE_TICKS; i++)
			ticks.push(element("span", {}, durationText(this.time(this.data.columns * i / TIMELINE_TICKS))));
		return element("div", { class: "row axis", "aria-hidden": "true" }, element("span", {}), element("div", { class: "ticks" }, ...ticks));
	}

	/* Since the first event. */
	time(column) {
		return this.data.start + column * this.data.width;
	}

	/* In words: the three that took most columns. */
	describe(row) {
		const of = new Map();
		let all = 0;
		for (const column of row.most) {
			if (column) {
				of.set(column[0], (of.get(column[0]) || 0) + column[1]);
				all += column[2];
			}
		}
		const most = [...of].sort((a, b) => b[1] - a[1]).slice(0, 3).map(([place]) => this.name(place));
		return `${row.row.name}: ${durationText(all)} in functions; most columns: ${most.join(", ")}`;
	}

	name(place) {
		return place < 0 ? "many small ones" : this.flame.placeText(place).slice(0, 2).filter(text => text).join(" ");
	}

	/* As in the flame graph: of a class of report.css, lighter or darker. */
	colours() {
		const style = (name, of) => getComputedStyle(of).getPropertyValue(name).trim(), kinds = new Map();
		const light = parseFloat(style("--flame-light", document.documentElement)), by = parseFloat(style("--lift-by", document.documentElement));
		return (kind, shade = 0) => {
			if (!kinds.has(kind)) {
				const probe = element("i", { class: kind });
				this.area.append(probe);
				kinds.set(kind, [style("--hue", probe), style("--full", probe), light + by * (Number(style("--lift", probe)) || 0)]);
				probe.remove();
			}
			const [hue, full, lifted] = kinds.get(kind);
			return `hsl(${hue} ${full} ${lifted + 5 * shade}%)`;
		};
	}

	colour(place, of) {
		return place < 0 ? of("of-all") : of("of-" + this.flame.data.places[place][3], place * 0.618 % 1 * 2 - 1);
	}

	draw() {
		const of = this.colours();
		this.tasks.draw(of);
		for (const { canvas, most, waiting } of this.rows) {
			const to = canvas.getContext("2d");
			to.clearRect(0, 0, canvas.width, canvas.height);
			most.forEach(([place, , sum], column) => {
				const high = Math.max(1, TIMELINE_HEIGHT * Math.min(1, sum / this.data.width));
				const pale = Math.min(high, TIMELINE_HEIGHT * (waiting[column] || 0));
				to.fillStyle = this.colour(place, of);
				to.fillRect(column, TIMELINE_HEIGHT - high + pale, 1, high - pale);
				to.globalAlpha = TIMELINE_PALE;
				to.fillRect(column, TIMELINE_HEIGHT - high, 1, pale);
				to.globalAlpha = 1;
			});
		}
	}

	column(event, row) {
		const box = row.track.getBoundingClientRect();
		return Math.max(0, Math.min(this.data.columns, (event.clientX - box.left) / box.width * this.data.columns));
	}

	begin(event, row) {
		if (event.button)
			return;
		this.from = this.column(event, row);
		row.track.setPointerCapture(event.pointerId);
		event.preventDefault();
		this.area.focus({ preventScroll: true });
	}

	move(event, row) {
		const at = this.column(event, row);
		if (this.from === undefined) {
			this.tell(row, Math.floor(at));
			return;
		}
		this.wanted = [Math.min(this.from, at), Math.max(this.from, at)];
		this.soon ||= requestAnimationFrame(() => { this.soon = 0; this.mark(this.wanted); });
	}

	/* A click without a drag shows all. */
	end(event, row) {
		const from = this.from, at = this.column(event, row);
		this.from = undefined;
		cancelAnimationFrame(this.soon);
		this.soon = 0;
		if (from !== undefined)
			this.mark(Math.abs(at - from) * row.track.clientWidth < 2 * this.data.columns ? null : [Math.min(from, at), Math.max(from, at)]);
	}

	describeColumn(row, column) {
		const at = row.most[column], { width } = this.data;
		return `${row.row.name}: ` + (at ? `${this.name(at[0])} ${shareText(at[1] / width)} of ${durationText(width)}` +
			(row.waiting[column] ? `, waiting ${shareText(row.waiting[column])}` : "") : "in no function");
	}

	tell(row, column) {
		this.under.textContent = `${durationText(this.time(column))}, ${row.tell(Math.min(column, this.data.columns - 1))}`;
	}

	choose(row) {
		row.chosen = !row.chosen;
		row.button.setAttribute("aria-pressed", row.chosen);
		row.track.classList.toggle("out", !row.chosen);
		this.mark(this.span);
	}

	/* Whole columns; null: everything, of all threads if none is left out. */
	mark(span) {
		const { columns } = this.data, out = this.rows.some(row => !row.chosen);
		this.span = span && [Math.min(columns - 1, Math.round(span[0])), Math.max(Math.round(span[0]) + 1, Math.round(span[1]))];
		const [from, until] = this.span || [0, columns];
		this.area.style.setProperty("--from", from / columns);
		this.area.style.setProperty("--part", this.span ? (until - from) / columns : 0);
		this.all.disabled = !this.span;
		this.flame.setSpan(this.span || out ? this.view("paths", from, until) : null, this.names);
		this.said.textContent = (this.span ? `${durationText(this.time(from))} to ${durationText(this.time(until))}: ` : "Whole run: ") +
			durationText((until - from) * this.data.width) + (out ? `, ${this.rows.filter(row => row.chosen).length} of ` +
			plural(this.rows.length, "thread") : "");
	}

	tabulate() {
		this.table.replaceChildren(...(this.flame.data.span ? this.functions.build(this.view("functions", ...(this.span || [0, this.data.columns])), this.names) : []));
	}

	/* Of paths or functions. */
	view(of, from, until) {
		const sums = new Map();
		for (const row of this.rows)
			if (row.chosen)
				row[of].add(sums, from, until);
		return pyramidView(sums, this.names);
	}

	/* The span that a key leads to. */
	next(key, shift) {
		const { columns } = this.data, [from, until] = this.span || [0, Math.max(1, columns / 10)];
		const wide = until - from, step = Math.max(1, Math.round(wide / 10)), fit = (a, b) => [Math.max(0, a), Math.min(columns, b)];
		const moved = by => [Math.max(0, Math.min(columns - wide, from + by)), Math.max(wide, Math.min(columns, until + by))];
		if (!this.span && key.startsWith("Arrow"))
			return [from, until];
		return { ArrowRight: () => shift ? fit(from, until + step) : moved(step), ArrowLeft: () => shift ? fit(from, Math.max(from + 1, until - step)) : moved(-step),
			 "+": () => fit(from + wide / 4, until - wide / 4), "-": () => fit(from - wide / 2, until + wide / 2),
			 Home: () => moved(-columns), End: () => moved(columns) }[key]?.();
	}

	key(event) {
		if (event.target !== this.area || event.ctrlKey || event.altKey || event.metaKey)
			return;
		const span = event.key === "Escape" ? null : this.next(event.key, event.shiftKey);
		if (span === undefined)
			return;
		this.mark(span);
		event.preventDefault();
	}
}
