#!/bin/sh
# ocular diff: a loop that really got slower, specialisation that really differs, and bad input.
# shellcheck disable=SC2016 # backquotes are Markdown
# shellcheck source=tests/wrapper/tap.sh
. "$(dirname "$0")/tap.sh"
ocular=$root/scripts/ocular
python=$("$root/scripts/find-pythons" | head -n 1)
cd "$scratch" || exit 1
export PYTHON="$python"

# N: how much work a trip of the inner loop does. STEP: what is added up, an int or a float.
cat >app.py <<'END'
import sys

def work(n, step):
    total = step
    for i in range(2000):
        total += step
        sum(range(n))
    return total

def steady(n):
    for i in range(n):
        pass

for i in range(20):
    work(int(sys.argv[1]), eval(sys.argv[2]))
    steady(500)
END
record() { "$ocular" record -q -o "$@"; }
ok "recorded: fast" record fast app.py 1 1
ok "recorded: slow" record slow app.py 1000 1
ok "recorded: with floats" record floats app.py 1 1.0
ok "recorded: in another mode" record calls --mode calls app.py 1 1
mkdir moved && { echo '# a line more' && cat app.py; } >moved/app.py
ok "recorded: the same in another folder, a line lower" record moved.data moved/app.py 1000 1
"$ocular" report -q fast --summary fast.json
"$ocular" report -q slow --summary slow.json

# about FILE EXPRESSION: it is true of d, the comparison; loop("work") and function("work") are pairs of it.
about() {
	"$python" - "$@" <<'END'
import json, sys
d = json.load(open(sys.argv[1]))
def one(kind, name):
    found, = [p for p in d[kind] if (p["a"] or p["b"])["qualname"] == name]
    return found
loop = lambda name: one("loops", name)
function = lambda name: one("functions", name)
print(json.dumps([p for p in d["loops"] if (p["a"] or p["b"])["qualname"] in ("work", "steady")], indent=1))
sys.exit(not eval(f"({sys.argv[2]})"))
END
}

# compare STATUS OUT A B OPTIONS...: the JSON of a comparison.
compare() {
	wanted=$1 out=$2
	shift 2
	got=0
	"$ocular" diff --json "$@" >"$out" || got=$?
	[ "$got" = "$wanted" ]
}

ok "a slower loop fails" compare 1 slower.json fast slow --fail-over 50%
ok "the loop is slower, far beyond its error" about slower.json \
	'loop("work")["verdict"] == "slower" and loop("work")["change"] > 2 and loop("work")["over"]'
ok "so is its function, by as much" about slower.json \
	'function("work")["verdict"] == "slower" and abs(function("work")["change"] / loop("work")["change"] - 1) < 0.2'
ok "trips and calls are the same" about slower.json \
	'all(p["a"]["times"] == p["b"]["times"] for p in (loop("work"), function("work"), loop("steady")))
	and loop("work")["a"]["times"] == 40000 and function("work")["a"]["times"] == 20'
ok "the numbers are those of the summaries" about slower.json \
	'any(l["cycles"]["mean"] == loop("work")["b"]["wall_mean"] for l in json.load(open("slow.json"))["loops"])'
cat >sleepy.py <<'END'
import sys, time
def naps(ms):
    time.sleep(ms / 1000)
    sum(range(100000))
for i in range(30):
    naps(float(sys.argv[1]))
END
"$ocular" record -q -o nap sleepy.py 1
"$ocular" record -q -o sleep sleepy.py 40
"$ocular" report -q nap --summary nap.json
if grep -q '"waiting_ns": null' nap.json; then
	skip "who only waits longer is not slower" "the kernel does not say when threads are on a CPU"
else
	ok "what only waits longer" compare 0 naps.json nap sleep
	ok "is not slower on a CPU" about naps.json \
		'd["cpu"] and function("naps")["change"] < 0.8 and function("naps")["b"]["wall_mean"] > 3 * function("naps")["a"]["wall_mean"]'
fi
ok "the other way round it is faster, and fails nothing that takes long" compare 0 faster.json slow fast --fail-over 0% --share 30
ok "by the same factor" about faster.json 'loop("work")["verdict"] == "faster"
	and abs((1 + loop("work")["change"]) * (1 + [p["change"] for p in json.load(open("slower.json"))["loops"] if p["a"]["qualname"] == "work"][0]) - 1) < 1e-6'
ok "what it is allowed does not fail" compare 0 allowed.json fast slow --fail-over 100000%
ok "nor does what has too small a share" compare 0 small.json fast slow --fail-over 0 --share 100
ok "without --fail-over nothing fails" compare 0 free.json fast slow
ok "a recording beside itself" compare 0 itself.json fast fast --fail-over 0%
ok "is the same" about itself.json 'all(p["verdict"] in ("same", "few") for p in d["loops"] + d["functions"])'
ok "summaries in the place of recordings" compare 1 summaries.json fast.json slow.json --fail-over 50%
ok "give the same loops" about summaries.json 'd["loops"] == json.load(open("slower.json"))["loops"]'
ok "without perf, too" compare 1 libipt.json fast slow --fail-over 50% --decoder libipt
cp fast/perf.data fast/perf.data.2026112219250000
ok "files of a recording in its place" compare 1 files.json fast/perf.data.2026112219250000 slow/perf.data --fail-over 50%
ok "give the same loops, too" about files.json 'd["loops"] == json.load(open("slower.json"))["loops"]'
rm fast/perf.data.2026112219250000
ok "moved by a line, and in another folder" compare 0 moved.json slow moved.data
ok "they are still found" about moved.json \
	'loop("work")["matched"] == "other folder, moved" and loop("work")["b"]["line"] == loop("work")["a"]["line"] + 1'
ok "a loop of floats" compare 0 floats.json fast floats
ok "specializes otherwise" about floats.json \
	'[(o["opcode"], o["a"], o["b"]) for o in loop("work")["specialized"]] == [("BINARY_OP", "BINARY_OP_ADD_INT", "BINARY_OP_ADD_FLOAT")]'
ok "another loop does not" about floats.json 'loop("steady")["specialized"] == []'

ok "how often each opcode ran differs by that" about floats.json \
	'next(o for o in d["opcodes"] if o["specialized"] == "BINARY_OP_ADD_INT")["a"] >= 40000 + next(
		o for o in d["opcodes"] if o["specialized"] == "BINARY_OP_ADD_INT")["b"]'
ok "recorded: every instruction" record exact --mode precise app.py 1 1
sed 's/steady(500)/steady(1500)/' app.py >longer.py && mkdir longer && mv longer.py longer/app.py
ok "recorded: every instruction of more trips" record more --mode precise longer/app.py 1 1
ok "more bytecodes fail" compare 1 more.json exact more --fail-over 2%
ok "by as many as there are more trips" about more.json 'd["totals"]["instructions"]["over"]
	and (d["totals"]["instructions"]["b"] - d["totals"]["instructions"]["a"]) % 20000 == 0'

# --- for people ---
disturbed() {
	"$ocular" report fast --summary quiet.json >/dev/null &&
		"$python" -c 'import json
d = json.load(open("quiet.json"))
d["trace"].update(traced_ns=1000, waiting_ns=200, cpu_ns=721)
json.dump(d, open("quiet.json", "w"))
d["trace"].update(cpu_ns=600)
json.dump(d, open("noisy.json", "w"))' &&
		"$ocular" diff quiet.json noisy.json >text && "$ocular" diff quiet.json noisy.json --markdown >markdown &&
		"$ocular" diff quiet.json noisy.json --html noisy.html &&
		[ "$(grep -c 'noisy: preempted' text)" = 1 ] && grep -q '^         noisy: preempted 25% of the time it could run$' text &&
		grep -q 'noisy: preempted 10 % and 25 % of the time they could run' markdown &&
		[ "$(grep -o 'noisy: preempted 25%' noisy.html | wc -l)" = 1 ]
}
ok "a recording that other work disturbed is called noisy" disturbed
interpolated() {
	"$ocular" report fast --summary exact.json >/dev/null &&
		"$python" -c 'import json
d = json.load(open("exact.json"))
d["clock"]["coarse"] = 16
json.dump(d, open("coarse.json", "w"))' &&
		"$ocular" diff exact.json coarse.json >text && "$ocular" diff exact.json coarse.json --markdown >markdown &&
		"$ocular" diff exact.json coarse.json --html coarse.html &&
		[ "$(grep -c '^         times are interpolated: the clock was read for one marker of 16$' text)" = 1 ] &&
		grep -q '; times of B are interpolated' markdown &&
		[ "$(grep -o 'times are interpolated' coarse.html | wc -l)" = 1 ]
}
ok "a coarse clock is told" interpolated
all_shown() {
	"$ocular" diff --all "$@" >text && grep -q '^Functions timed too rarely to judge' text && ! grep -q -e '--all' text
}
ok "--all shows everything, of recordings too" all_shown fast slow
module_named() { "$ocular" diff --all fast slow | grep -q '<module>, .*/app.py:[0-9]*$'; }
ok "a module keeps its folder" module_named
wide() { COLUMNS=200 "$ocular" diff --all fast slow | grep -q " work, $(pwd -P)/app.py:"; }
ok "a wide terminal has whole paths" wide
ok "the table" says 0 '^ *+*[0-9].* work, .*app.py:' "$ocular" diff fast slow
ok "what failed is marked" says 1 ' ! work, .*app.py' "$ocular" diff fast slow --fail-over 50%
ok "the whole" says 1 '^bytecodes .* !' "$ocular" diff exact more --fail-over 2%
ok "opcodes" says 0 'BINARY_OP as BINARY_OP_ADD_INT -> BINARY_OP_ADD_FLOAT' "$ocular" diff fast floats
narrow() { "$ocular" diff --all fast slow >text && [ -s text ] && ! grep -E '^.{81}' text; }
ok "no line is longer than a terminal" narrow

# --- for a comment on a pull request ---
ok "Markdown: what got slower first, where it is its own time" says 0 \
	'^- \*\*slower\*\* `work, .*app.py:3`: +[0-9.]* % ± [0-9.]* % (.* self cycles a call)$' "$ocular" diff --markdown fast slow
only_work() { [ "$("$ocular" diff --markdown fast slow | head -n 1 | grep -c work)$("$ocular" diff --markdown fast slow | grep -c 'work, .*app')" = 11 ]; }
ok "its loop does not say the same again" only_work
ok "what is over the limit is said" says 1 'self cycles a call), over the limit$' "$ocular" diff --markdown fast slow --fail-over 50%
ok "a recording beside itself: nothing" says 0 '^- No call and no trip of a loop got slower or faster beyond the noise' "$ocular" diff --markdown fast fast
for side in fast slow; do sed 's/"work"/"w`o|<b>rk"/' $side.json >named-$side.json; done
ok "names are no Markdown" says 0 '`` w`o/<b>rk, [^/]*/app.py:3 ``' "$ocular" diff --markdown named-fast.json named-slow.json
ok "two forms at once are refused" says 2 'not both' "$ocular" diff --markdown --json fast slow

# --- bad input: exit status 2, and one line ---
echo '{"schema": 1}' >half.json
echo '{"schema": 99, "loops": [], "functions": []}' >newer.json
echo '{"schema": 1, "loops": [{"file": "x"}], "functions": []}' >bare.json
echo 'no JSON' >text.json
mkdir empty
ok "no such recording" says 2 "no recording 'nowhere'" "$ocular" diff fast nowhere
ok "a folder that is none" says 2 'no perf.data' "$ocular" diff empty fast
ok "a file that is no JSON" says 2 'text.json' "$ocular" diff text.json fast
ok "a JSON that is no summary" says 2 'half.json is not a summary' "$ocular" diff fast half.json
ok "a newer summary" says 2 'schema 99' "$ocular" diff fast newer.json
ok "a summary that lacks numbers" says 2 'have no "iterations"' "$ocular" diff fast bare.json
ok "recorded: C functions, fast and slow" eval 'record c_fast --c-calls app.py 1 1 && record c_slow --c-calls app.py 1000 1'
ok "a C function that got slower" says 0 '  sum$' "$ocular" diff c_fast c_slow
ok "only one with C functions" says 2 'c_slow alone was recorded with C functions: record both with --c-calls' \
	"$ocular" diff fast c_slow
ok "different modes" says 2 'different modes, adaptive and calls' "$ocular" diff fast calls
ok "one recording" says 2 'two recordings' "$ocular" diff fast
ok "three recordings" says 2 'two recordings at a time' "$ocular" diff fast slow fast
ok "a percentage that is none" says 2 'wants a percentage' "$ocular" diff fast slow --fail-over much
full() { "$ocular" diff fast.json slow.json "$@" >/dev/full; }
ok "a full disk" says 2 'cannot write to standard output' full
ok "a full disk, as JSON" says 2 'cannot write to standard output' full --json
ok "rows that are none" says 2 'wants a number' "$ocular" diff fast slow --rows -1
done_testing
