# bash completion of ocular: asks ocular itself what may come next; programs and recordings are files.
_ocular() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}

	mapfile -t COMPREPLY < <(compgen -W "$("${COMP_WORDS[0]}" words "$before" "${COMP_WORDS[1]}" 2>/dev/null)" -- "$word")
}
complete -o default -F _ocular ocular
