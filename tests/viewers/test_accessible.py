#!/usr/bin/env python3
"""The pages are judged by axe-core, in headless Chromium: what a screen reader and keys need, and contrasts, by the rules of WCAG 2 and the rules that
are best practice.

The page of a program, and that of a comparison; each light and narrow, dark and wide. Without Chromium: skipped, but not in CI.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "doors"))
import chromium  # noqa: E402
import recording  # noqa: E402
from chromium import Chromium  # noqa: E402
from tap import Plan  # noqa: E402
from test_flame import Page  # noqa: E402
from test_layout import PROGRAM, SCHEMES, recorded, scheme, size  # noqa: E402
from test_viewers import install  # noqa: E402

JUDGE = ("axe.run(document).then(r => ({passed: r.passes.length, found: r.violations.map(v => `${v.id}: ${v.help}, ${v.nodes.length} times: "
         "${v.nodes.slice(0, 3).map(n => n.html.slice(0, 160) + ' ' + n.failureSummary.replace(/\\s+/g, ' ')).join(' | ')}`)}))")
LOOKS = ((SCHEMES[0], 360), (SCHEMES[1], 1280))
# Rows of a table that are alike are judged alike: two of each kind stay, of 45,000 elements some thousands.
FEWER = ("for (const body of document.querySelectorAll('tbody')) { const seen = new Map(); for (const row of [...body.rows]) { "
         "const kind = row.className + [...row.cells].map(cell => cell.className); seen.set(kind, (seen.get(kind) || 0) + 1); "
         "if (seen.get(kind) > 2) row.remove(); } } 0")
OPEN = "for (const each of document.querySelectorAll('details')) each.open = true"  # what is folded is not judged
PASSED = 40  # rules that such a page meets, at least: else it judged nothing


def judged(page, axe, looks=LOOKS):
    page.run(axe + "; 0")
    page.run(OPEN)
    page.run(FEWER)
    problems = []
    for name, width in looks:
        scheme(page, name)
        size(page, width)
        said = page.run(JUDGE)
        problems += [f"{name}, {width} wide: {found}" for found in said["found"]]
        problems += [f"{name}, {width} wide: only {said['passed']} rules are met"] * (said["passed"] < PASSED)
    return problems


def zoomed(page, axe):
    """Of one function: what is above it, its source, its callers; and what is searched for."""
    page.run("[...document.querySelectorAll('.rect')].find(r => r.getAttribute('aria-label').startsWith('crunch')).click()")
    page.set("flame-find", "crunch|json")
    return judged(page, axe, LOOKS[1:])


def marked(page, axe):
    """A span of the timeline, with its table."""
    page.run("(area => { area.focus(); area.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight'})); })"
             "(document.getElementById('timeline-area'))")
    return judged(page, axe)


def notices(page, axe):
    """What the others look for would be found."""
    page.run("document.querySelector('main').insertAdjacentHTML('beforeend', '<button></button><p style=\"color:#777;background:#888\">grey</p>')")
    found = judged(page, axe, LOOKS[:1])
    return [f"{rule} is not noticed: {found}" for rule in ("button-name", "color-contrast") if not any(rule in problem for problem in found)]


def compared(browser, folder, axe):
    program, data, path = (os.path.join(folder, name) for name in ("layout.py", "other", "diff.html"))
    with open(program, "w") as file:
        file.write(PROGRAM.replace("i * i % 7", "i * i % 7 + i * 3 - i").replace("range(n)", "range(2 * n)"))
    done = recording.record(data, [recording.pythons()[-1], program], recording.traced_environment("full"))
    done = done if done.returncode else recording.run([recording.WRAPPER, "diff", "--html", path, os.path.join(folder, "data"), data])
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stderr)
    return judged(Page(browser, folder, None, path), axe)


def main():
    recording.need_built()
    program = chromium.needed()
    with open(os.path.join(install(), "axe-core", "axe.min.js"), encoding="utf-8") as file:
        axe = file.read()
    with Plan() as plan, recording.scratch() as folder:
        browser = Chromium(program, folder, "about:blank")
        try:
            page = recorded(browser, folder)
            plan.case("the page", judged, page, axe)
            plan.case("a function of it", zoomed, page, axe)
            plan.case("a span of it", marked, page, axe)
            plan.case("what is not so is noticed", notices, page, axe)
            plan.case("a comparison", compared, browser, folder, axe)
        finally:
            browser.end()


if __name__ == "__main__":
    main()
