/*
 * Rows of tasks below those of threads: of each coroutine how many tasks ran, could have run and awaited something, the
 * most at once as high as the row. What a task does is in the rows of threads: here nothing can be chosen.
 */
const TASK_KINDS = [["running", "of-cpu"], ["ready", "of-preempted"], ["awaiting", "of-waiting"]];

class TimelineTasks {
	constructor(timeline, rows) {
		this.timeline = timeline;
		rows = rows.map(row => ({ ...row, ...Object.fromEntries(TASK_KINDS.map(([kind]) => [kind, numbersOf(row[kind])])) }));
		this.rows = rows.map(row => ({ row, most: Math.max(1, ...row.running.map((_, i) => this.sum(row, i))) }));
	}

	/* Thousandths of tasks in that column. */
	sum(row, column) {
		return TASK_KINDS.reduce((sum, [kind]) => sum + row[kind][column], 0);
	}

	build() {
		const { data } = this.timeline;
		return this.rows.map(each => {
			const { row } = each, name = `${row.name}: ${plural(row.tasks, "task")}`;
			each.canvas = element("canvas", { width: data.columns, height: TIMELINE_HEIGHT, role: "img", "aria-label": this.describe(each) });
			each.tell = column => this.tell(row, column);
			each.track = this.timeline.buildTrack(each, each.canvas);
			return element("div", { class: "row tasks" }, element("span", { title: name }, name), each.track);
		});
	}

	legend() {
		return this.rows.length ? element("p", { class: "legend" }, "Tasks by coroutine: ", ...TASK_KINDS.map(([kind, of]) =>
			element("span", {}, element("i", { class: of }), kind)), "the most at once as high as the row") : "";
	}

	describe({ row, most }) {
		return `Tasks of ${row.name}: ${plural(row.tasks, "task")}, up to ${(most / 1000).toFixed(1)} at once in a column`;
	}

	tell(row, column) {
		return `${row.name}: ${TASK_KINDS.map(([kind]) => `${(row[kind][column] / 1000).toFixed(1)} ${kind}`).join(", ")}`;
	}

	draw(colourOf) {
		const colours = TASK_KINDS.map(([, kind]) => colourOf(kind));
		for (const { row, most, canvas } of this.rows) {
			const to = canvas.getContext("2d");
			to.clearRect(0, 0, canvas.width, canvas.height);
			for (let column = 0; column < canvas.width; column++) {
				let from = TIMELINE_HEIGHT;
				TASK_KINDS.forEach(([kind], i) => {
					const high = TIMELINE_HEIGHT * row[kind][column] / most;
					to.fillStyle = colours[i];
					to.fillRect(column, from - high, 1, high);
					from -= high;
				});
			}
		}
	}
}
