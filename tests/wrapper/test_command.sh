#!/bin/sh
# scripts/ocular as a user meets it: help, mistakes, exit statuses, odd paths.
# shellcheck source=tests/wrapper/tap.sh
. "$(dirname "$0")/tap.sh"
ocular=$root/scripts/ocular
python=$("$root/scripts/find-pythons" | head -n 1)
cd "$scratch" || exit 1
export PYTHON="$python"

report_cut() {
	cp -R r1 cut
	head -c $(($(wc -c <r1/perf.data) - 100)) r1/perf.data >cut/perf.data
	"$ocular" report cut
}

# From the middle event on: fewer lines, and not the first.
report_half() {
	"$ocular" report r1 -q --events all.txt
	middle=$(awk -F'\t' 'NR > 1 { t[++n] = $1 } END { m = t[int(n / 2)]; printf "@%d.%09d", m / 1e9, m % 1e9 }' all.txt)
	"$ocular" report r1 --time "$middle," --events half.txt
	[ "$(wc -l <half.txt)" -gt 2 ] && [ "$(wc -l <half.txt)" -lt "$(($(wc -l <all.txt) * 3 / 4))" ]
}

# completes WANTED LINE: what bash offers behind the last word of LINE, the words of $COMP_WORDS; each of WANTED is there.
completes() {
	wanted=$1
	shift
	offered=$(PATH=$root/scripts:$PATH bash -c '. "$0/scripts/completion.bash"; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _ocular; echo " ${COMPREPLY[*]} "' \
		"$root" "$@")
	echo "$offered"
	for word in $wanted; do case $offered in *" $word "*) ;; *) return 1 ;; esac; done
}

# No option that --help of a command shows is missing from its completion, and none is offered that it does not show.
same_options() {
	"$ocular" "$1" --help | grep -oE '^  (-[a-z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort >shown
	"$ocular" words x "$1" | grep -- -- | sort >offered
	command diff shown offered && [ "$(wc -l <shown)" -gt 3 ]
}

# What the program did: the words between say only when it was on a CPU, and may come before its first event.
events_of() {
	"$ocular" report r1 "$@" --events - | grep -v "$(printf '\tEXTENSION\t')"
}

# The first half of the recording in its own seconds, and in perf's.
spans_alike() {
	events_of -q >all.txt
	middle=$(awk -F'\t' 'NR > 1 { t[++n] = $1 } END { printf "%.0f", t[int(n / 2)] - t[1] }' all.txt)
	events_of --decoder "$1" -q --time "0,$(seconds "$middle")" >first.txt
	awk -F'\t' -v to="$middle" 'NR == 2 { from = $1 } NR == 1 || $1 - from < to' all.txt >wanted.txt
	[ "$(wc -l <wanted.txt)" -gt 2 ] && [ "$(wc -l <wanted.txt)" -lt "$(wc -l <all.txt)" ] && cmp wanted.txt first.txt
}

seconds() { printf '%d.%09d' $(($1 / 1000000000)) $(($1 % 1000000000)); }

# Where a span's first event stands in the whole trace.
shown_alike() {
	middle=$(awk -F'\t' 'NR > 1 { t[++n] = $1 } END { printf "%.0f", t[int(n / 2)] - t[1] }' all.txt)
	"$ocular" report r1 -q --time "$(seconds "$middle")," --perfetto half.json
	"$python" - "$middle" <<'END'
import json, sys
first = min(e["ts"] for e in json.load(open("half.json")) if e["ph"] in "BiE")
sys.exit(abs(first * 1000 - int(sys.argv[1])) > 1)
END
}

on_terminal() { python3 -c 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) != 0)' "$@"; }

# A list to choose from, and who chooses: a line that begins with $WANTED.
mkdir bin && cat >bin/fzf <<'END' && chmod +x bin/fzf
#!/bin/sh
tail -n +2 | grep "^ *$WANTED "
END

attach_picked() {
	PYTHONPATH=$build/python "$python" -m ocular --listen -c 'import time; print("ready", flush=True); time.sleep(60)' >listens &
	target=$! tries=0
	until [ -s listens ] || [ $((tries += 1)) -gt 300 ]; do sleep 0.1; done
	status=0
	WANTED=$target PATH=$PWD/bin:$PATH on_terminal "$ocular" attach --for 50ms -o picked || status=$?
	kill $target
	return $status
}

# typed TEXT COMMAND...: on a terminal, where TEXT is written when a number is asked for; without fzf.
typed() {
	python3 - "$@" <<'END'
import os, pty, sys
pid, fd = pty.fork()
if not pid:
    os.execvp(sys.argv[2], sys.argv[2:])
said = b""
while True:
    try:
        more = os.read(fd, 4096)
    except OSError:
        break
    if not more:
        break
    said += more
    if said.endswith(b"number: "):
        os.write(fd, sys.argv[1].encode() + b"\n")
print(said.decode(errors="replace"))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
}

labels() { grep -ho '"label":"[^"]*"' "$1"/codes-*.jsonl | sort -u | paste -sd' ' -; }

# What a fake fzf, or a number, picks is what fires.
trigger_by_fzf() {
	WANTED='fly:work' PATH=$PWD/bin:$PATH on_terminal "$ocular" record -q -o t1 --flight 1s --trigger '? (n)' fly.py
	labels t1 | grep 'fly:work'
}
trigger_by_number() {
	typed 2 "$ocular" record -q -o t2 --flight 1s --trigger '?WOR' fly.py && labels t2 | grep 'fly:rework'
}
symbol_by_number() {
	typed 1 "$ocular" record -q -o t3 --flight 1s --trigger-symbol '?libc.so.6:clock_nanosleep' fly.py >said.txt
	cat said.txt
	grep -q '1.*libc.so.6:clock_nanosleep' said.txt
}
attach_by_fzf() {
	PYTHONPATH=$build/python "$python" -m ocular --listen fly.py 50 >flies &
	target=$! tries=0
	until [ -s flies ] || [ $((tries += 1)) -gt 300 ]; do sleep 0.1; done
	status=0
	WANTED='fly:work' PATH=$PWD/bin:$PATH on_terminal "$ocular" attach $target --for 1s -o t4 --flight 1s --trigger '?' || status=$?
	kill $target
	[ $status = 0 ] && labels t4 | grep 'fly:work'
}

# refused_early PATTERN OPTIONS...: it is wrong usage, and the recording that was there is where it was.
refused_early() {
	pattern=$1 before_it=$(ls -id r1)
	shift
	says 2 "$pattern" "$ocular" record -o r1 "$@" 'a folder/my app.py' 0 && [ "$(ls -id r1)" = "$before_it" ] && [ ! -e r1.old ]
}

attach_nothing() { WANTED=none PATH=$PWD/bin:$PATH on_terminal "$ocular" attach; }
plain() { "$ocular" report r1 >plain.txt && [ -s plain.txt ] && ! grep "$(printf '\033')" plain.txt; }
summary_alone() { "$ocular" report --summary - r1 | "$python" -m json.tool; }
small() {
	"$ocular" report r1 -q --perfetto t.pftrace.gz --iterations slices --min-duration 1us --max-size 1M &&
		[ -s t.pftrace.gz ] && [ "$(wc -c <t.pftrace.gz)" -le 1048576 ]
}

# asked ITRACE KEY VALUE BACKEND: what perf is asked to tell of a recording whose code tables say so.
mkdir noting && cat >noting/perf <<'END' && chmod +x noting/perf
#!/bin/sh
echo "$*" >args
echo ok >&9
END
asked() {
	rm -rf args noted && cp -R r1 noted
	sed -i "1s/\"backend\":\"[a-z]*\"/\"backend\":\"$3\"/; 1s/\"mode\":\"[a-z]*\"/\"mode\":\"$2\"/" noted/codes-*.jsonl
	PATH=$PWD/noting:$PATH "$ocular" report --decoder perf noted
	cat args
	grep -q -e "--itrace=$1 .*--dlfilter .*/ocular.so" args
}

check_blank() {
	"$python" -m venv --without-pip 'v env'
	PYTHON="$PWD/v env/bin/python3" "$ocular" check
}

report_without_tmp() {
	got=0
	TMPDIR=$PWD/none "$ocular" report r1 --decoder both -q 2>said.txt || got=$?
	cat said.txt
	[ $got = 1 ] && [ "$(wc -l <said.txt)" = 1 ] # mktemp has said why
}

# A recording that was there; what is beside it keeps the new one from beginning.
stat_refused() {
	cp -R r1 held && mkdir held.old && touch held.old/thesis
	got=0
	"$ocular" stat -o held 'a folder/my app.py' 0 >said.txt 2>&1 || got=$?
	cat said.txt
	[ $got = 1 ] && ! grep -q 'Functions\|my app.py' said.txt
}

# in_proc COMMAND...: in a folder in which nobody can make one.
in_proc() { (cd /proc && "$@"); }

# The rights of files count for root, too.
without_privileges() {
	if [ "$(id -u)" = 0 ]; then setpriv --bounding-set=-all --inh-caps=-all "$@"; else "$@"; fi
}

# A recording in a folder that cannot be written: one line, which says where else; what is there already is shown.
view_unwritable() {
	[ -d fixed ] || cp -R r1 fixed
	chmod 555 fixed
	without_privileges "$ocular" view --no-browser "$@" fixed >said.txt 2>&1 && return 1
	cat said.txt
	[ "$(wc -l <said.txt)" = 1 ]
}
view_made() {
	chmod 755 fixed && "$ocular" report fixed -q --html fixed/report.html && chmod 555 fixed
	without_privileges "$ocular" view --no-browser fixed
}

report_to_head() { "$ocular" report r1 --events - | head -n 1; }

# --- help and wrong usage: nothing runs, one line says why ---
for command in run record report diff pack unpack check; do
	ok "help of $command" says 0 "^usage: ocular $command" "$ocular" $command --help
	ok "help $command" says 0 "^usage: ocular $command" "$ocular" help $command
	ok "$command --nonsense" says 2 "unknown option --nonsense" "$ocular" $command --nonsense
done
for program in record fsck pt diff pack qemu feed; do
	ok "ocular-$program --help" says 0 "^[Uu]sage: ocular-$program" "$build/bin/ocular-$program" --help
done
ok "help of help" says 0 '^usage:' "$ocular" help --help
ok "no command: the help" says 0 '^usage:' "$ocular"
ok "an unknown command" says 2 "unknown command 'play'" "$ocular" play
ok "an option without its value" says 2 "needs a value" "$ocular" record -o
ok "a mode that is none" says 2 "unknown mode 'fast'" "$ocular" record --mode fast app.py
for backend in ptwrite emulated qemu; do
	ok "--flight of $backend is a size" says 2 "takes a size" "$ocular" record --backend $backend --flight 1s app.py
done
ok "no program" says 2 "nothing to record" "$ocular" record -o here
ok "two recordings" says 2 "one recording at a time" "$ocular" report one two
ok "no such recording" says 1 "no recording 'nowhere'" "$ocular" report nowhere
mkdir empty
ok "a folder that is no recording" says 1 "no perf.data" "$ocular" report empty

# --- without a build, and with half of one: one line, from each command; but help is help ---
says_not_built() {
	status=1
	[ "$1" != diff ] || status=2 # as cmp and diff have it: 1 says that there are differences
	says $status '^ocular: .*not built yet: run make in' "$ocular" "$@" && [ "$(printf '%s\n' "$output" | wc -l)" -eq 1 ]
}
mkdir -p no-build half-built r0
cp "$build/record-options" half-built
: >r0/perf.data
for OCULAR_BUILD in "$scratch/no-build" "$scratch/half-built"; do
	export OCULAR_BUILD
	for words in ps "attach $$" "attach $$ --for 1s" "record -- app.py" "run app.py" "run --mode calls app.py" \
		"record --trigger ? app.py" "report r0" "report --decoder libipt r0" "view r0" "stat app.py" "diff r0 r0" \
		"pack r0" "unpack r0.ocular"; do
		# shellcheck disable=SC2086 # words
		ok "$words, ${OCULAR_BUILD##*/}" says_not_built $words
	done
	ok "help, ${OCULAR_BUILD##*/}" says 0 '^usage: ocular COMMAND' "$ocular" help
	ok "help of record, ${OCULAR_BUILD##*/}" says 0 'not built yet: run make in .*; options are missing here' "$ocular" record --help
	ok "check, ${OCULAR_BUILD##*/}" says 1 'is not built' "$ocular" check
done
unset OCULAR_BUILD

# --- interpreters that cannot be traced ---
cat >old-python <<'END'
#!/bin/sh
echo cpython 3.11.7 old
END
cat >pypy <<'END'
#!/bin/sh
echo pypy 3.12.1 .pypy312.so
END
cat >future-python <<'END'
#!/bin/sh
echo cpython 3.99.0 .cpython-399.so
END
chmod +x old-python pypy future-python
ok "Python too old: says so, and which to use" says 1 "needs CPython 3.12" "$ocular" record --python ./old-python app.py
ok "another implementation" says 1 "needs CPython" "$ocular" record --python ./pypy app.py
ok "no extension: says how to build it" says 1 "no extension for ./future-python" \
	"$ocular" record --python ./future-python app.py
ok "something that is no Python" says 1 "does not run as Python" "$ocular" record --python true app.py
ok "no such interpreter" says 1 "no interpreter 'nopython'" "$ocular" record --python nopython app.py

# --- recording and reporting ---
mkdir 'a folder'
cat >'a folder/my app.py' <<'END'
import sys
total = 0
for i in range(1000):
    total += i
print("total", total, sys.argv[1:])
sys.exit(int(sys.argv[1]))
END
before=$(date +%H:%M:%S)
ok "the program's exit status" says 7 'total 499500' "$ocular" record -q -o r1 'a folder/my app.py' 7
after=$(date -d '+2 sec' +%H:%M:%S)
ok "-c, and the signal that killed it" says 143 '' "$ocular" record -q -o r2 -- -c 'import os; os.kill(os.getpid(), 15)'
ok "-m" says 0 'best of' "$ocular" record -q -o r3 --mode calls -m timeit -n 1 pass
ok "options of the program stay its own" says 3 "\['3', '--mode', 'x', '-q'\]" \
	"$ocular" record -q -o r4 -- 'a folder/my app.py' 3 --mode x -q
ok "an interpreter in the program's place is the interpreter" says 4 'total 499500' \
	"$ocular" record -q -o r6 -- "$python" 'a folder/my app.py' 4
ok "a report" says 0 'my app.py' "$ocular" report r1
ok "an events text on standard output" says 0 '^# ocular events 1' "$ocular" report r1 --events -
ok "a summary on standard output, and nothing else there" summary_alone
ok "files beside the report" says 0 'my app.py' "$ocular" report r1 --perfetto 'a trace.json' --summary s.json --events e.txt
ok "the trace is JSON" "$python" -m json.tool 'a trace.json'
ok "the summary is JSON" "$python" -m json.tool s.json
ok "colours on a terminal" says 0 "$(printf '\033')\[1m" on_terminal "$ocular" report r1
ok "and none elsewhere" plain
ok "-q shows no report" silent "$ocular" report -q r1 --summary s.json
ok "a smaller timeline" small
ok "a size that is none" says 1 'max_size=N' "$ocular" report r1 -q --perfetto t.json --max-size 5
ok "a sink that cannot be written" says 1 'no/such' "$ocular" report r1 --perfetto no/such/trace.json
ok "a number that is none" says 1 'loops' "$ocular" report r1 --loops many
ok "opcodes" says 0 'is followed by' "$ocular" report r1 --opcodes calls:FOR:2
ok "an order of opcodes that is none" says 1 'opcodes' "$ocular" report r1 --opcodes loudest
ok "events by code" says 0 'Code objects with most events' "$ocular" report r1 --counts 3
mkdir foreign && touch foreign/file
ok "a recording that cannot begin is not reported" says 1 'foreign' "$ocular" run -o foreign 'a folder/my app.py' 0
mkdir vacant
ok "run into an empty folder is reported" says 3 'my app.py' "$ocular" run -q -o vacant 'a folder/my app.py' 3
ok "run: no program starts for a decoder that is none" says 2 'decoder is' "$ocular" run --decoder none -o none 'a folder/my app.py' 0
ok "and nothing is recorded" [ ! -e none ]
ok "run: a report that is wrong is the exit status" says 1 'no/such' "$ocular" run -q -o r7 --perfetto no/such/t.json 'a folder/my app.py' 0
ok "stat: a recording that cannot begin is not reported" stat_refused
ok "where no folder can be made: what to do" says 1 'cannot make the folder ocular.data: .*; choose another folder with -o' \
	in_proc "$ocular" record -q -c pass
if qemu-x86_64 -help 2>&1 | grep -q '^-plugin'; then
	ok "... on the emulated processor" says 1 'cannot make the folder.* -o' in_proc "$ocular" stat -c pass
else
	skip "... on the emulated processor" "no qemu-x86_64 with plugins"
fi
ok "view: a folder that cannot be written" says 0 'report fixed --html FILE' view_unwritable
ok "... for the trace" says 0 'report fixed --perfetto FILE' view_unwritable --perfetto
ok "view: ... and has the page" says 0 '^file://.*/fixed/report.html$' view_made
chmod 755 fixed
ok "a span of time in perf's clock" says 0 'my app.py' report_half
ok "in seconds since the first event" spans_alike perf
ok "and by the other decoder" spans_alike libipt
ok "a span of the wall clock" says 0 'my app.py' "$ocular" report r1 --time "$before,$after"
ok "Perfetto shows the same times in a span" shown_alike
for decoder in perf libipt; do
	ok "$decoder: nothing in a span: what there is" says 1 \
		'no event in time=1000,1001; the recording has 0 to 0\.[0-9]* s, 20..-..-..T..:..:.*, @' \
		"$ocular" report r1 --decoder $decoder --time 1000,1001
	ok "$decoder: nor on that day" says 1 'no event in time=2001-01-01T00:00,2001-01-01T00:01' \
		"$ocular" report r1 --decoder $decoder --time '2001-01-01T00:00,2001-01-01T00:01'
done
ok "nothing in a span that perf looked for" says 1 'no event in time=@1,@2' "$ocular" report r1 --decoder perf --time @1,@2
ok "and nothing is written" [ ! -e spanless.json ]
ok "a span that is none" says 1 'want time=FROM,TO' "$ocular" report r1 --time 25:00,
ok "the other decoder" says 0 'my app.py' "$ocular" report r1 --decoder libipt
ok "perf is asked for words of rings" asked we adaptive software
ok "perf is asked for executed PTWRITEs without a walk" asked qwe adaptive ptwrite
ok "perf is asked for emulated PTWRITEs by a walk" asked we adaptive emulated
ok "perf is asked for branches in mode opcodes" asked qi1iwpe opcodes ptwrite
ok "both decoders" says 0 'same events' "$ocular" report r1 --decoder both -q
ok "both decoders, and nowhere to put their pipes" report_without_tmp
cp -R r1 ./-r1
ok "a recording whose name begins with a dash" says 0 'my app.py' "$ocular" report -- -r1
ok "and run of one" says 3 'my app.py' "$ocular" run -q -o -r2 'a folder/my app.py' 3
ok "no such decoder" says 2 'decoder is' "$ocular" report r1 --decoder none
ok "run shows output and report, keeps the status" says 5 'my app.py' "$ocular" run -q -o r5 'a folder/my app.py' 5
ok "a recording cut in the middle is repaired and told" says 0 'epair' report_cut
ok "check tells all and succeeds" says 0 'can record and report' "$ocular" check
ok "check tells how well clocks agree" says 0 'clocks  .*processor' "$ocular" check
ok "a Python in a folder with a blank" says 0 'extension.*v env/bin/python3' check_blank
ok "the reader of a report may leave early" report_to_head
ok "completion of commands" completes 'run record report top view diff fleet agent stat snapshot attach ps check help' ocular ''
ok "of modes, as modes.py has them" completes 'calls adaptive lines precise opcodes full' ocular run --mode ''
ok "of what an option takes" completes 'perf libipt both' ocular report --decoder ''
ok "of options by their beginning" completes '--pstats --perfetto --python --pt-buffer' ocular run --p
for command in record report diff stat attach; do
	ok "options of $command: help and completion are one list" same_options "$command"
done
cat >fly.py <<'END'
import sys, time
def work(n): pass
def rework(): time.sleep(0.01)
print("flies", flush=True)
for i in range(int(sys.argv[1]) if sys.argv[1:] else 1):
    work(i)
    rework()
    time.sleep(0.1)
END
# shellcheck disable=SC2016 # what sed and the script see
sed -i 's/^tail -n +2 | //; s/^grep "^ \*$WANTED "/grep "^ *$WANTED[[:space:]]"/' bin/fzf
ok "a function that fzf picks is a trigger" trigger_by_fzf
ok "one is picked by its number" trigger_by_number
ok "a C function, too" symbol_by_number
ok "attach: a function that fzf picks" attach_by_fzf
ok "no name is like it" says 1 "no name contains 'zebra'" typed 1 "$ocular" record -o t5 --flight 1s --trigger '?zebra' fly.py
ok "nothing is picked" says 1 '' typed '' "$ocular" record -o t5 --flight 1s --trigger '?work' fly.py
ok "nobody to pick a function" says 2 'on a terminal' "$ocular" record -o t5 --flight 1s --trigger '?' fly.py
ok "and nothing is recorded" [ ! -e t5 ]
for wrong in '--trigger nonsense' '--trigger a:b>5' '--trigger-lag 7' '--trigger-task name' '--trigger-task name>5' '--trigger-exception a:b:c'; do
	# shellcheck disable=SC2086 # words
	ok "$wrong: refused before the last recording is moved" refused_early '^ocular: not a' --flight 1s $wrong
done
ok "mode opcodes without branches, too" refused_early 'needs a processor trace' --mode opcodes --backend software
ok "a trigger, an include and an exclude that matched nothing are told" says 0 \
	'trigger fly:wrok: did you mean fly:work' "$ocular" run -q -o t6 --flight 1s --trigger fly:wrok --exclude jsn fly.py
ok "in the summary too" says 0 '"matched_nothing": .*"option": "exclude", "pattern": "jsn"' "$ocular" report t6 --summary -
ok "a process that fzf picks is attached to" says 0 'detached; the recording is in picked' attach_picked
ok "nothing is picked" says 1 '' attach_nothing
ok "nobody to pick" says 2 'ocular ps lists them' "$ocular" attach --for 1s
ok "attach: options before the process, and with '='" says 1 'no process 4194305' "$ocular" attach --for 1s -q --tied=1 4194305
ok "attach: an unknown option" says 2 'unknown option --nonsense' "$ocular" attach 4194305 --nonsense
ok "attach: one with a value" says 2 'unknown option --nonsense' "$ocular" attach --nonsense=1 4194305
ok "attach: two processes" says 2 "not also '4194306'" "$ocular" attach 4194305 -q 4194306
ok "attach: help behind the process" says 0 'usage: ocular attach .*options' "$ocular" attach 4194305 --help
ok "ps takes nothing" says 2 'ps takes no arguments' "$ocular" ps 1
mkdir -p on-path/own
printf '#!%s\nprint("from the path")\n' "$python" >on-path/planted-tool
printf '#!/bin/sh\necho no Python\n' >on-path/planted-shell
printf 'print("from here")\n' >on-path/own/planted-tool
chmod +x on-path/planted-tool on-path/planted-shell
on_path() { (cd "$1" && shift && PATH=$scratch/on-path:$PATH "$ocular" "$@"); }
for words in record run 'record --'; do
	# shellcheck disable=SC2086 # words
	ok "$words: a script on the PATH" says 0 'from the path' on_path . $words planted-tool
done
ok "record: a file here comes first" says 0 'from here' on_path on-path/own record planted-tool
ok "record: what is no Python script is none" says 2 "can't open file" on_path . record planted-shell
ok "record: nor is what an interpreter is told to run" says 2 "can't open file" on_path . record "$python" planted-tool
# What is said on stderr is not what keeps a program from running: it may be closed, or take nothing.
unheard() {
	rm -rf unheard unheard.old
	[ "$("$@" -o unheard -c 'print("ran")' 2>&- | head -n 1)" = ran ] && [ -e unheard/perf.data ] || return 1
	rm -rf unheard
	[ "$("$@" -o unheard -c 'print("ran")' 2>/dev/full | head -n 1)" = ran ] && [ -e unheard/perf.data ]
}
closed_stays_closed() { "$ocular" record -o closed -c 'import sys; print(sys.stderr)' 2>&- | grep -qx None; }
ok "record that nobody hears" unheard "$ocular" record
ok "run that nobody hears" unheard "$ocular" run
ok "python -m ocular that nobody hears" unheard env PYTHONPATH="$build/python" "$python" -m ocular
ok "the program finds stderr closed as it was" closed_stays_closed

done_testing
