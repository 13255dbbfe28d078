/* The source: n and p go to the next and the previous line that is hot by time or by waiting, in whatever function it is, and unfold that. */
const SOURCE_HOT = 4; /* of the nine classes of report.css */

function sourceHotLines() {
	const hot = text => Number(/\b[hw]([0-9])\b/.exec(text)?.[1]) >= SOURCE_HOT;
	return [...document.querySelectorAll(".source tbody tr")].filter(row => hot(row.className) || hot(row.cells[3].className));
}

function sourceGo(step) {
	const rows = sourceHotLines(), at = rows.indexOf(document.activeElement);
	const row = rows[at < 0 ? (step > 0 ? 0 : rows.length - 1) : (at + step + rows.length) % rows.length];
	if (!row)
		return;
	row.closest("details").open = true;
	row.tabIndex = -1;
	row.focus();
	row.scrollIntoView({ block: "center" });
}

function sourceKeys() {
	const section = document.getElementById("source");
	if (!section || !sourceHotLines().length)
		return;
	section.querySelector("h2").after(element("p", { class: "note" }, "n goes to the next hot line, p to the previous one."));
	document.addEventListener("keydown", event => {
		const typing = event.target.closest("input, select, textarea");
		if (!typing && !event.ctrlKey && !event.altKey && !event.metaKey && (event.key === "n" || event.key === "p"))
			sourceGo(event.key === "n" ? 1 : -1);
	});
}
