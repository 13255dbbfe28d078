/* The flame graph of this page: which values, of which threads, folded how; search; and the function that is chosen. */
const FLAME_NAMES = { wall: "wall time", cpu: "CPU time", waiting: "waiting", preempted: "preempted", calls: "calls", cycles: "cycles" };
const FLAME_TASKS = 50; /* coroutines to choose from */
const FLAME_WHOSE = { own: "the program", stdlib: "the standard library", site: "site-packages", imports: "imports", c: "C functions" };

class FlamePage {
	constructor(section, data) {
		this.data = this.whole = flameData(data);
		this.tasks = new Set((data.tasks || []).map(([place]) => place));
		this.rebuilt = () => {};
		this.names = { ...this.valueNames() };
		if (data.cycles_of)
			for (const name in this.names)
				this.names[name] = this.names[name].replace("cycles", data.cycles_of);
		this.value = "wall";
		this.matches = () => false;
		this.controls(section);
		this.view = new FlameView(this.graph, {
			width: node => node.total[this.value] || 0,
			kind: node => node.place === FLAME_CUT ? "of-cut" : node.parent ? this.kind(node) : "of-all",
			shade: node => node.place >= 0 ? node.place * 0.618 % 1 * 2 - 1 : 0,
			label: node => this.label(node),
			describe: (node, share) => this.describe(node, share),
			matches: node => node.place >= 0 && this.matches(node.place),
			shown: node => this.show(node),
			chosen: node => { this.search(); node.place >= 0 && this.choose(node.place); },
		});
		this.rebuild();
	}

	valueNames() {
		return FLAME_NAMES;
	}

	kind(node) {
		return "of-" + node.of;
	}

	values() {
		const has = new Set(this.data.values);
		return Object.keys(this.names).filter(name => has.has(name) || name.endsWith("cpu") && has.has(name.replace("cpu", "waiting")));
	}

	/* The whole, its processes if there are several, its threads, and coroutines of tasks: { group, name, views, place }. */
	views() {
		const [whole, ...threads] = this.whole.views, pids = [...new Set(threads.map(view => view.pid))];
		const all = [{ group: "", name: "whole run", views: [whole] }];
		if (pids.length > 1)
			for (const pid of pids)
				all.push({ group: "Processes", name: "process " + pid, views: threads.filter(view => view.pid === pid) });
		for (const view of threads)
			all.push({ group: "Threads", name: `${view.name} ${pids.length > 1 ? view.pid + "/" : ""}${view.tid}`, views: [view] });
		return all.concat(this.taskViews(whole));
	}

	/* Most tasks first; those of several processes together. */
	taskViews(whole) {
		const counts = new Map();
		for (const [place, n] of this.whole.tasks || [])
			counts.set(place, (counts.get(place) || 0) + n);
		return [...counts].sort((a, b) => b[1] - a[1]).slice(0, FLAME_TASKS).map(([place, n]) =>
			({ group: "Tasks by coroutine", name: `${this.placeText(place)[0]}: ${plural(n, "task")}`, views: [whole], place }));
	}

	/* Single tasks of a coroutine, most time first. */
	singleTasks(place) {
		return (this.whole.task_views || []).filter(view => place !== undefined && view.coroutine === place);
	}

	taskName(view) {
		const several = this.whole.views.some(other => other.pid && other.pid !== view.pid);
		return `${view.name || "task " + view.number}${several ? " of " + view.pid : ""}: ${durationText(view.wall.reduce((sum, n) => sum + n, 0))}`;
	}

	/* Where a coroutine of tasks is chosen, and nothing is marked on the timeline: one of its tasks. */
	offerTasks(place) {
		const tasks = this.data.span ? [] : this.singleTasks(place), all = this.taskCount(place);
		this.one.parentElement.hidden = !tasks.length;
		if (this.oneOf === place && this.one.length > 1 && tasks.length)
			return;
		this.oneOf = place;
		this.one.replaceChildren(element("option", { value: "" }, `all ${plural(all, "task")}`),
					 ...tasks.map((view, i) => element("option", { value: i }, this.taskName(view))));
	}

	taskCount(place) {
		return (this.whole.tasks || []).reduce((sum, [of, n]) => sum + (of === place ? n : 0), 0);
	}

	/* The task that is chosen of that coroutine; null: all. */
	chosenTask(place) {
		this.offerTasks(place);
		return this.one.parentElement.hidden || this.one.value === "" ? null : this.singleTasks(place)[this.one.value];
	}

	/* Options under the names of their groups. */
	options() {
		const groups = new Map([["", []]]);
		this.views().forEach(({ group, name }, i) => {
			if (!groups.has(group))
				groups.set(group, []);
			groups.get(group).push(element("option", { value: i }, name));
		});
		return [...groups].flatMap(([name, options]) => name ? [element("optgroup", { label: name }, ...options)] : options);
	}

	controls(section) {
		const change = () => this.rebuild(), option = (text, i) => element("option", { value: i }, text);
		this.which = element("select", { change, id: "flame-of" }, ...this.options());
		this.by = element("select", { change, id: "flame-by" }, ...this.values().map(name => option(this.names[name], name)));
		this.one = element("select", { change, id: "flame-task" });
		this.fold = element("input", { type: "checkbox", change, id: "flame-fold" });
		this.merge = element("input", { type: "checkbox", change, id: "flame-merge" });
		this.find = element("input", { type: "search", id: "flame-find", placeholder: "regular expression", spellcheck: "false",
					       autocomplete: "off", input: () => { this.search(); this.view.mark(); } });
		this.found = element("output", { id: "flame-found", for: "flame-find" });
		this.graph = element("div", { class: "flame", id: "flame-graph", "aria-label": "Flame graph" });
		this.line = element("p", { class: "flame-line", "aria-hidden": "true" }, "\u00a0");
		this.cut = element("p", { class: "note", id: "flame-cut" });
		this.chosen = element("div", { id: "flame-function", "aria-live": "polite" });
		section.append(
			element("div", { class: "controls" },
				element("label", {}, "Width ", this.by),
				this.which.length > 1 ? element("label", {}, "of ", this.which) : "",
				element("label", { hidden: true }, "task ", this.one),
				element("label", {}, this.fold, " fold libraries"),
				element("label", {}, this.merge, " merge recursion"),
				element("label", {}, "Search ", this.find), this.found,
				...this.moreControls(),
				element("button", { type: "button", click: () => this.view.goBack() }, "Back")),
			this.legend(), this.graph, this.line, this.cut, this.chosen);
	}

	moreControls() {
		return [];
	}

	legend() {
		const of = new Set(this.data.places.map(place => place[3]));
		const all = Object.entries(FLAME_WHOSE).filter(([key]) => of.has(key));
		return element("p", { class: "legend" },
			       ...all.map(([key, name]) => element("span", {}, element("i", { class: "of-" + key }), name)));
	}

	rebuild() {
		const { views, place } = this.views()[this.which.value || 0];
		this.value = this.by.value;
		this.task = this.chosenTask(place);
		const of = [this.data, this.which.value, this.task, this.merge.checked, this.fold.checked];
		if (!this.madeOf || of.some((each, i) => each !== this.madeOf[i])) /* its nodes have all values: another width needs no other tree */
			this.make(views, place);
		this.madeOf = of;
		const nodes = this.nodes;
		this.view.root = this.view.top = nodes[0];
		this.search();
		this.view.set(nodes[0]);
		this.tellCut();
		this.show(nodes[0]);
		this.choose(this.place);
		this.rebuilt();
	}

	make(views, place) {
		this.plain = flameTree(this.data, this.task ? [this.task] : this.data.span ? this.data.views : views);
		this.ofTasks = place !== undefined;
		if (this.ofTasks)
			this.plain = flameTasks(this.plain, place, this.task ? new Set([place]) : this.tasks);
		this.nodes = this.plain;
		if (this.merge.checked)
			this.nodes = flameRecursion(this.nodes);
		if (this.fold.checked)
			this.nodes = flameFolded(this.nodes);
	}

	/* Of a part of the run only, of which these values are known; null: of all again. Threads are chosen on the timeline. */
	setSpan(view, values) {
		if (!view && this.data === this.whole)
			return;
		this.data = view ? { ...this.whole, values, views: [view], span: true } : this.whole;
		const views = this.views(), has = this.values();
		for (const option of this.which.querySelectorAll("option"))
			option.disabled = Boolean(view) && option.value !== "0" && views[option.value].place === undefined;
		for (const option of this.by.querySelectorAll("option"))
			option.disabled = !has.includes(option.value);
		if (this.which.selectedOptions[0].disabled)
			this.which.value = 0;
		if (this.by.selectedOptions[0].disabled)
			this.by.value = "wall";
		this.rebuild();
	}

	tellCut() {
		let sum = 0;
		for (const node of this.plain)
			sum += node.place === FLAME_CUT ? node.own[this.value] || 0 : 0;
		const shown = this.data.parents.length - 1, part = sum / (this.plain[0].total[this.value] || 1);
		const cut = this.data.paths - shown;
		if (this.data.span) {
			this.cut.textContent = `Of the span that is marked on the timeline. ${shareText(part)} is too small to show, hatched.`;
			return;
		}
		this.cut.textContent = this.tellTasks() + (cut ? `${plural(cut, "call path")} of ${numberText(this.data.paths)}, each less than ` +
			`1/${numberText(this.data.parts)} of the run, are cut: ${shareText(part)} of the ${this.names[this.value]} here, hatched. ` :
			`All ${plural(shown, "call path")} are here. `) +
			(this.data.threads_left_out ? `${plural(this.data.threads_left_out, "thread")} have no graph of their own, but are in that of the whole run. ` : "") +
			"Click or Enter zooms, Escape goes back, arrows go from function to function.";
	}

	/* How many tasks of the chosen coroutine cannot be chosen. */
	tellTasks() {
		const kept = this.singleTasks(this.oneOf).length, all = this.taskCount(this.oneOf);
		return this.oneOf === undefined || kept >= all ? "" : `${numberText(kept)} of ${plural(all, "task")} can be chosen alone. `;
	}

	placeText(place) {
		const [name, file, line] = this.data.places[place], brief = this.data.files[file][0];
		return [name, brief ? brief + (line > 0 ? ":" + line : "") : "", this.data.files[file][1] || brief];
	}

	name(node) {
		if (node.place >= 0)
			return this.data.places[node.place][0];
		if (node.place === FLAME_FOLD)
			return FLAME_WHOSE[node.of];
		return node.place === FLAME_CUT ? "too small to show" : "all";
	}

	/* What stands behind its name: in a comparison, how much slower or faster it was. */
	changed() {
		return "";
	}

	/* A module's body is named by its file. */
	label(node) {
		const name = this.name(node);
		return (name === "<module>" && node.place >= 0 ? "<module> " + this.placeText(node.place)[1] : name) + this.changed(node);
	}

	/* What was found out about a function elsewhere. */
	judgement() {
		return "";
	}

	figure(name, n) {
		return name.endsWith("calls") || name.endsWith("cycles") ? numberText(n) : durationText(n);
	}

	describe(node, share) {
		const where = node.place >= 0 ? this.placeText(node.place)[1] : "", total = node.total[this.value] || 0;
		return `${this.name(node)}${this.changed(node)}${where ? ", " + where : ""}: ${this.figure(this.value, total)}, ${shareText(share)} of all`;
	}

	show(node) {
		const all = this.view.root.total[this.value] || 1;
		const others = this.values().filter(name => name !== this.value && node.total[name])
			.map(name => `${this.names[name]} ${this.figure(name, node.total[name])}`);
		this.line.textContent = `${this.describe(node, (node.total[this.value] || 0) / all)}; ` +
			`its own ${this.figure(this.value, node.own[this.value] || 0)}; ${others.join(", ")}`;
	}

	/* A text that is no regular expression is searched for as it stands. */
	search() {
		const text = this.find.value;
		let pattern = null;
		try {
			pattern = new RegExp(text, "i");
		} catch {
			pattern = { test: of => of.includes(text) };
		}
		const hits = this.data.places.map((_, i) => text !== "" && pattern.test(this.placeText(i).slice(0, 2).join(" ")));
		this.matches = place => hits[place];
		if (!text) {
			this.found.textContent = "";
			return;
		}
		const top = this.view.top, { sum, n } = flameMatches(top, this.value, node => node.place >= 0 && hits[node.place]);
		this.found.textContent = `${shareText(sum / (top.total[this.value] || 1))} in ${plural(n, "match").replace("matchs", "matches")}`;
	}

	/* Searches for exactly this name. */
	mark(name) {
		this.find.value = "^" + name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&") + " ";
		this.search();
		this.view.draw();
	}

	choose(place) {
		this.place = place;
		this.chosen.replaceChildren(...(place >= 0 ? flameFunctionTable(this, place) : []));
	}
}
