# bash completion of ocular: commands, options, modes; programs and recordings are files.
_ocular() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words=
	local record='--output --mode --include --exclude --python --backend --set --ring-records --wait-ms --quiet'
	record+=' --duty --duty-window --switch-output --switch-max-files --max-size --keep-last --until-exit --flight --max-snapshots --pt-buffer --no-filter --trigger --trigger-exception'
	record+=' --trigger-lag --trigger-symbol'
	local report='--perfetto --summary --html --events --loops --opcodes --counts --time --decoder --quiet'
	report+=' --pstats --collapsed --flamegraph --speedscope --callgrind --pypylog --bridges'
	report+=' --iterations --min-duration --max-size'

	case $before:${COMP_WORDS[1]} in
	ocular:* | */ocular:*) words='run record report diff stat snapshot attach ps check help' ;;
	--mode:*) words='calls adaptive lines precise opcodes full' ;;
	--decoder:*) words='perf libipt both' ;;
	--opcodes:*) words='time calls percall name' ;;
	--iterations:*) words='instants slices none' ;;
	--backend:*) words='auto ptwrite emulated software qemu' ;;
	help:*) words='run record report diff stat snapshot attach ps check by-hand' ;;
	*:record) words=$record ;;
	*:report) words=$report ;;
	*:attach) words="$record --for --wait" ;;
	*:stat) words='--output --python --summary --opcodes' ;;
	*:diff) words='--fail-over --share --all --rows --json --decoder' ;;
	*:run) words="$record $report" ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _ocular ocular
