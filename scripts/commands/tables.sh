# shellcheck shell=sh disable=SC2034,SC2154 # sourced by scripts/ocular, which sets and reads variables
# tables - prints $parts/tables.sh: what parse takes, and the lists that are checked before the program starts.

first_words() { "$1" | cut -f 1 | paste -sd' ' -; }

# assign NAME...: their values, as the shell reads them.
assign() {
	for name; do
		eval "value=\$$name"
		printf "%s='%s'\n" "$name" "$value"
	done
}

take_record_options() {
	table_options record_table
	record_options=$options
	# Triggers that the traced process itself watches for: one variable each, made of lines.
	trigger_kinds=$(record_table | sed -n 's/^--trigger[^	]*	[^	]*	\([a-z]*\)@	.*/\1/p' | paste -sd' ' -)
	# What else than the mode's events the program records.
	also_names=$(record_table | sed -n 's/^--[^	]*	-	\([a-z_]*\)!	ma[a-z]*	.*/\1/p' | paste -sd' ' -)
	mode_names=$(first_words modes) backend_names=$(first_words backends)
}

take_report_options() {
	table_options report_table
	report_options=$options report_files='' report_others='' report_flags=''
	while IFS='	' read -r name value variable kind words; do
		case $kind in
		file) report_files="$report_files $variable" ;;
		flag) report_flags="$report_flags ${variable%!}" ;;
		value | list) report_others="$report_others ${variable%+}" ;;
		esac
	done <<END
$(report_table)
END
}

make_tables() {
	take_record_options
	take_report_options
	assign record_options trigger_kinds also_names mode_names backend_names report_options report_files report_others report_flags
}
