#!/bin/sh
# What README's first command shows once all is built: scripts/demo.
# shellcheck source=tests/wrapper/tap.sh
. "$(dirname "$0")/tap.sh"
python=$("$root/scripts/find-pythons" | head -n 1)
trace=$build/demo/ocular_trace.json
rm -rf "$build/demo"

demo() { env -u PYTHON OCULAR_BUILD="$build" "$root/scripts/demo" >"$scratch/demo" 2>&1; }
shown() { cat "$scratch/demo" && grep -Eq -e "$1" "$scratch/demo"; }

# The third of its loops, or with other work on the machine a later one, for which the demo's first screen has no room.
more() { OCULAR_BUILD="$build" "$root/scripts/ocular" report "$build/demo/ocular.data" --loops 5 | tee /dev/stderr | grep -Eq -e "$1"; }

# Calls in the trace: as many as the program makes.
calls() {
	"$python" - "$trace" <<'END'
import collections, json, sys
names = collections.Counter(e.get("name") for e in json.load(open(sys.argv[1])) if e["ph"] == "B")
print(names.most_common(12))
sys.exit((names["kick"], names["separation"], names["Body.drift"]) != (1000, 10200, 5000))
END
}

ok "the demo runs" demo
ok "the program's own line" shown '^5000 days, energy '
ok "its loops with their trips: 1000 steps" more '^ *[0-9.]+% .* 1000 .* steps, (scripts/)?demo.py:'
ok "and the loop inside it: 10 pairs a step" shown '^ *[0-9.]+% .* 10000 .* kick, (scripts/)?demo.py:'
ok "the disassembly, specialised" shown 'FOR_ITER -> FOR_ITER_RANGE \| block [0-9]+(: ~[0-9]+ cycles a trip)?'
ok "nothing was lost" shown '^Nothing was lost\.$'
ok "a trace with each call" calls

done_testing
