# shellcheck shell=sh disable=SC2034,SC2154 # sourced by scripts/ocular, which sets and reads variables
# fleet - many recordings in one store of Parquet files, and questions of them. DuckDB does the work, in a Python that has it.

# For help and completion; ocular/fleet.py reads the options.
fleet_table() {
	cat <<'END'
--label	NAME=VALUE	label	-	add, spark: a column of the recording, label_NAME; may be repeated
--events	-	events!	-	add: also each event as a row of the table events; needs pyarrow
--partition	LABEL,...	partition	-	add, spark: what the store that it makes is partitioned by, beside the day
--master	URL	master	-	spark: of the cluster (spark://host:7077, yarn, local[4]); default: as Spark is configured
--conf	NAME=VALUE	conf	-	spark: a setting of Spark's; may be repeated
--by	LABEL	by	-	slower: which label says to which side a recording belongs; durations: take them apart by it
--each	LABEL	each	-	slower: compare within each value of it, and on the whole (default: host, the label or the recording's own)
--share	P	share	-	slower: ignore functions with less than P per cent of the self time (default 0.1)
--all	-	all!	-	slower: show what was compared, also what is noise or faster
--rows	N	rows	-	top, show, callers: rows of the table (default 20)
--format	table|json|csv|html	format	-	of an answer (default table); html: one page, on standard output
--no-browser	-	silently!	-	trace: print the link and open nothing
END
}

fleet_help() {
	cat <<'END'
usage: ocular fleet add STORE DIR... [--label NAME=VALUE]... [--events] [--partition LABEL,...]
       ocular fleet spark STORE PATH... [--master URL] [--conf NAME=VALUE]... [--label NAME=VALUE]... [--partition LABEL,...]
       ocular fleet sql STORE 'SELECT ...'
       ocular fleet top STORE
       ocular fleet show STORE FUNCTION
       ocular fleet durations STORE FUNCTION [--by LABEL]
       ocular fleet callers STORE FUNCTION
       ocular fleet slower STORE --by LABEL A B
       ocular fleet trace STORE RECORDING
       ocular fleet compact STORE

  STORE               a folder, or an address: s3://bucket/prefix, gs://, abfs://, hdfs://; add makes it, but no bucket

END
	table_help fleet_table
	cat <<'END'

  ocular fleet add runs ocular.data --label release=1.4 --label host=web1
  ocular fleet spark runs hdfs:///traces/2026-11-26 --master yarn --label release=1.4
  ocular fleet slower s3://traces/runs --by release 1.3 1.4
  ocular fleet sql runs 'SELECT key, sum(self_ns) FROM function GROUP BY key ORDER BY 2 DESC LIMIT 9'

It needs DuckDB: pip install "ocular-trace[fleet]"; --events also pyarrow: pip install "ocular-trace[fleet-events]"; spark
PySpark and Java 17: pip install "ocular-trace[fleet-spark]"; a store in a bucket what reads it: pip install "ocular-trace[fleet-s3]",
[fleet-gs], [fleet-abfs] or [fleet-hdfs].
The tables are in docs/fleet.md.
Exit status: 0 done, 1 failed, 2 wrong usage.
END
}

fleet() {
	for word; do
		case $word in
		-h | --help)
			fleet_help
			exit 0
			;;
		esac
	done
	[ $# -gt 0 ] || usage_error "add, spark, sql, top, show, durations, callers, slower, trace or compact, please"
	python=${PYTHON:-$own}
	command -v "$python" >/dev/null || die "there is no $python for it: set PYTHON"
	own_module ocular.fleet "$@"
}
