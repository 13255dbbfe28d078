# shellcheck shell=sh disable=SC2034,SC2154 # sourced by scripts/ocular, which sets and reads variables
# pack, unpack - a recording's folder as one small file, and back; ocular-pack does the work.

pack_table() {
	cat <<'END'
-o --output	FILE	packed	-	the file (default DIR.ocular)
--force	-	force!	-	replace a file that is there
--no-sources	-	no_sources!	-	leave out the program's own source files
--remove	-	remove!	-	remove DIR when the file is complete and on the disk
-q --quiet	-	quiet!	-	say nothing but errors
END
}
table_options pack_table
pack_options=$options

pack_help() {
	cat <<'END'
usage: ocular pack [options] [DIR]

  DIR                 a recording (default ocular.data)
END
	table_help pack_table
	cat <<'END'

  ocular pack
  ocular pack fib.data -o fib.ocular
  ocular pack fib.data --remove
  ocular report fib.data.ocular

Makes one file of a recording, a sixth to a thirtieth of its size. report, view, diff, top and fleet add take the file
as they take DIR; ocular unpack makes the folder again, byte for byte. Command line, names of files and functions,
and the program's own source files are in it: look before you pass it on (tar --zstd -xf, docs/pack.md).
Exit status: 0 done, 1 failed, 2 wrong usage.
END
}

unpack_table() {
	cat <<'END'
--force	-	force!	-	move a DIR that is there to DIR.old
-q --quiet	-	quiet!	-	say nothing but errors
END
}
table_options unpack_table
unpack_options=$options

unpack_help() {
	cat <<'END'
usage: ocular unpack [options] FILE [DIR]

  FILE                what ocular pack made
  DIR                 the folder to make (default FILE without .ocular)
END
	table_help unpack_table
	cat <<'END'

  ocular unpack fib.data.ocular
  ocular unpack fib.ocular elsewhere.data

Of a file that was cut off or damaged it unpacks what came before that, says what is missing, and ends with 3.
Exit status: 0 all is there, 1 failed, 2 wrong usage, 3 only a part could be unpacked.
END
}

# not_an_option NAME: as ocular-pack sees it, too.
not_an_option() { case $1 in -*) printf './%s' "$1" ;; *) printf %s "$1" ;; esac }

# take_names MOST WORDS...: sets $from and $to from the words that are no options.
take_names() {
	from='' to='' most=$1 force='' remove='' no_sources='' quiet='' packed=''
	shift
	while [ $# -gt 0 ]; do
		parse "$options" "$@"
		shift "$took"
		[ $# -gt 0 ] || break
		if [ -z "$from" ]; then
			from=$1
		elif [ -z "$to" ] && [ "$most" = 2 ]; then
			to=$1
		else
			usage_error "one recording at a time, not also '$1'"
		fi
		shift
	done
}

# pack_now VERB: the options are as they were read.
pack_now() {
	[ -x "$parts/bin/ocular-pack" ] || die "bin/ocular-pack: $(not_built)"
	set -- "$1" ${quiet:+-q} ${force:+--force} ${remove:+--remove} ${no_sources:+--no-sources} "$(not_an_option "$from")" "$(not_an_option "$to")"
	become "$parts/bin/ocular-pack" "$@"
}

pack() {
	options=$pack_options
	take_names 1 "$@"
	from=${from:-ocular.data}
	while [ "${from%/}" != "$from" ] && [ "$from" != / ]; do from=${from%/}; done
	[ ! -f "$from" ] || usage_error "'$from' is not a folder: pack takes the recording's folder"
	to=${packed:-$from.ocular}
	pack_now pack
}

unpack() {
	options=$unpack_options
	take_names 2 "$@"
	[ -n "$from" ] || usage_error "nothing to unpack: name a file that ocular pack made"
	case $from:$to in
	*.ocular:) to=${from%.ocular} ;;
	*:) usage_error "name the folder to make, too: '$from' does not end in .ocular" ;;
	esac
	while [ "${to%/}" != "$to" ] && [ "$to" != / ]; do to=${to%/}; done
	pack_now unpack
}
