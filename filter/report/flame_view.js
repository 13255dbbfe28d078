/*
 * Draws a tree as an icicle: callers above what they call, each as wide as its part. It knows nothing of what the
 * widths and colours mean: `look` says it.
 *
 *   look.width(node)     a number; what its children have is at most that
 *   look.kind(node)      a class of report.css for its colour; look.shade(node): -1 to 1, of that colour
 *   look.label(node)     what stands in it
 *   look.describe(node, share)   all of it in words, for screen readers
 *   look.matches(node)   is it marked?
 *   look.shown(node)     called when it has the pointer or the focus; look.chosen(node): when it was zoomed to
 *
 * Keys: arrows go to caller, callee and neighbours; Enter zooms, Escape goes back, Home shows all.
 */
const FLAME_LEAST = 1, FLAME_TEXT = 24, FLAME_DEEPEST = 250; /* pixels, pixels, rows below the one that is zoomed to */

class FlameView {
	constructor(element, look) {
		this.element = element;
		this.look = look;
		this.drawn = new Map();
		this.back = [];
		element.setAttribute("role", "tree");
		element.addEventListener("keydown", event => this.key(event));
		element.addEventListener("click", event => this.zoom(this.nodeOf(event.target)));
		element.addEventListener("mouseover", event => this.show(this.nodeOf(event.target)));
		element.addEventListener("focusin", event => this.show(this.nodeOf(event.target)));
		new ResizeObserver(() => this.width() !== this.drawnWidth && this.draw()).observe(element);
	}

	width() {
		return this.element.clientWidth || 1000;
	}

	/* Another tree: what was zoomed to is forgotten. */
	set(root) {
		this.root = this.top = this.focus = root;
		this.back = [];
		this.draw();
	}

	nodeOf(target) {
		return this.drawn.get(target.closest("[role=treeitem]"));
	}

	show(node) {
		if (node)
			this.look.shown(node);
	}

	zoom(node, forget) {
		if (!node || node === this.top && !forget)
			return node && this.look.chosen(node);
		if (!forget)
			this.back.push(this.top);
		const focused = this.element.contains(document.activeElement);
		this.top = this.focus = node;
		this.draw();
		if (focused)
			this.item(node).focus({ preventScroll: true });
		this.look.chosen(node);
	}

	/* Where it was before the last zoom. */
	goBack() {
		if (this.back.length)
			this.zoom(this.back.pop(), true);
	}

	kids(node) {
		return node.kids.filter(kid => this.look.width(kid) > 0).sort((a, b) => this.look.width(b) - this.look.width(a));
	}

	draw() {
		const all = document.createDocumentFragment(), above = [];
		this.drawnWidth = this.width();
		this.drawn.clear();
		this.items = new Map();
		for (let at = this.top.parent; at; at = at.parent)
			above.unshift(at);
		above.forEach((node, row) => all.append(this.rectangle(node, row, 0, 1, true)));
		const deepest = this.below(all, above.length);
		this.element.replaceChildren(all);
		this.element.style.setProperty("--rows", deepest + 1);
		this.item(this.focus).tabIndex = 0;
	}

	/* What is marked, without drawing it again. */
	mark() {
		for (const [item, node] of this.drawn)
			item.classList.toggle("hit", Boolean(this.look.matches(node)));
	}

	/* Everything that is wide enough to be seen, and of callees that are not, one rectangle. The number of the last row. */
	below(all, first) {
		const whole = this.look.width(this.top) || 1, todo = [[this.top, first, 0]];
		let deepest = first;
		for (let at; (at = todo.pop());) {
			const [node, row, left] = at, part = this.look.width(node) / whole;
			all.append(this.rectangle(node, row, left, node === this.top ? 1 : part, false));
			deepest = Math.max(deepest, row);
			if (row - first >= FLAME_DEEPEST)
				continue;
			const wide = [];
			let from = left, narrow = [0, 0];
			for (const kid of node.kids) {
				const part = this.look.width(kid) / whole;
				if (part * this.drawnWidth >= FLAME_LEAST)
					wide.push([part, kid]);
				else if (part > 0)
					narrow = [narrow[0] + 1, narrow[1] + part];
			}
			for (const [part, kid] of wide.sort((a, b) => b[0] - a[0])) {
				todo.push([kid, row + 1, from]);
				from += part;
			}
			from += narrow[1];
			if (narrow[1] * this.drawnWidth >= FLAME_LEAST) { /* the widest come first, so these are side by side */
				all.append(this.together(narrow[0], row + 1, from - narrow[1], narrow[1]));
				deepest = Math.max(deepest, row + 1);
			}
		}
		return deepest;
	}

	box(kind, shade, row, left, part, text) {
		const item = document.createElement("div");
		item.className = "rect " + kind;
		item.style.cssText = `--row: ${row}; --shade: ${shade}; left: ${100 * left}%; width: ${100 * part}%`; /* at once: four take longer */
		item.setAttribute("role", "treeitem");
		item.setAttribute("aria-level", row + 1);
		if (part * this.drawnWidth > FLAME_TEXT)
			item.textContent = text();
		return item;
	}

	/* Of callees, each of which is narrower than a pixel: what calls them can be zoomed to. */
	together(n, row, left, part) {
		const item = this.box("of-cut", 0, row, left, part, () => plural(n, "callee") + " below a pixel");
		item.setAttribute("aria-label", plural(n, "callee") + ", each narrower than a pixel");
		return item;
	}

	rectangle(node, row, left, part, above) {
		const look = this.look;
		const item = this.box(look.kind(node) + (above ? " above" : "") + (look.matches(node) ? " hit" : ""), look.shade(node), row, left, part,
				      () => look.label(node));
		item.tabIndex = -1;
		item.setAttribute("aria-label", look.describe(node, look.width(node) / (look.width(this.root) || 1)));
		this.drawn.set(item, node);
		this.items.set(node, item);
		return item;
	}

	/* Of the node, or of the one that is zoomed to. */
	item(node) {
		return this.items.get(node) || this.items.get(this.top);
	}

	/* The one that a key leads to from a node. */
	next(key, node) {
		const beside = step => {
			const all = node.parent ? this.kids(node.parent) : [node];
			return all[all.indexOf(node) + step];
		};
		return { ArrowUp: () => node.parent, ArrowDown: () => this.kids(node)[0], ArrowLeft: () => beside(-1),
			 ArrowRight: () => beside(1), Home: () => this.root }[key]?.();
	}

	key(event) {
		const node = this.nodeOf(event.target);
		if (!node || event.ctrlKey || event.altKey || event.metaKey)
			return;
		if (event.key === "Enter" || event.key === " ")
			this.zoom(node);
		else if (event.key === "Escape")
			this.goBack();
		else if (event.key === "Home")
			this.zoom(this.root);
		else if (!event.key.startsWith("Arrow"))
			return;
		this.move(this.next(event.key, node));
		event.preventDefault();
	}

	move(node) {
		if (!node || !this.items.has(node) || !this.element.contains(document.activeElement))
			return;
		this.item(this.focus).tabIndex = -1;
		this.focus = node;
		this.item(node).tabIndex = 0;
		this.item(node).focus();
	}
}
