/* What the page's script begins with: each part finds its section, and is nothing where there is none. */
function unfold() {
	const to = document.getElementById(location.hash.slice(1));
	if (to && "open" in to)
		to.open = true;
}

/* What a link leads to stands below the navigation, in however many lines that is. */
function navHeight() {
	const nav = document.querySelector("nav");
	new ResizeObserver(() => document.documentElement.style.setProperty("--nav", nav.offsetHeight + "px")).observe(nav);
}

/* What is wider than the screen can be reached by key, to be scrolled. */
function scrollable() {
	const seen = new ResizeObserver(all => {
		for (const { target } of all) {
			if (target.scrollWidth > target.clientWidth)
				target.tabIndex = 0;
			else
				target.removeAttribute("tabindex");
		}
	});
	for (const wide of document.querySelectorAll(".scroll"))
		seen.observe(wide);
}

document.addEventListener("DOMContentLoaded", () => {
	for (const note of document.querySelectorAll("[data-needs-script]"))
		note.remove();
	addEventListener("hashchange", unfold);
	unfold();
	sourceKeys();
	navHeight();
	scrollable();
	const data = document.getElementById("flame-data");
	const flame = data && new FlamePage(data.parentElement, JSON.parse(data.textContent));
	const over = document.getElementById("timeline-data");
	if (flame && over)
		new Timeline(over.parentElement, JSON.parse(over.textContent), flame);
	const both = document.getElementById("diff-data");
	if (both)
		new DiffPage(both.parentElement, JSON.parse(both.textContent));
});
