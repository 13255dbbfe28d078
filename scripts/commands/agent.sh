# shellcheck shell=sh disable=SC2034,SC2154 # sourced by scripts/ocular, which sets and reads variables
# agent - beside the services of a host: each snapshot of their flight recorders goes into a fleet store. DuckDB does the work.

# Its own options, and those of record that it hands on to attach. ocular/fleet_agent.py reads them.
agent_table() {
	cat <<'END'
--store	STORE	store	-	the fleet store; it is made if it is not there
--budget	SIZE/day	budget	-	what a day's snapshots may take in it (default 200M/day): the oldest of the day goes first
--label	NAME=VALUE	label	-	a label of all that is added, beside service, host and trigger; may be repeated
--host	NAME	host	-	the label host, and whose snapshots the budget is for (default: this machine's name)
--totals	-	totals!	-	only the totals; otherwise each snapshot is kept, too, packed, for ocular fleet trace
--every	TIME	every	-	how long it waits between two rounds (default 2s)
--max-snapshots	N	-	-	at most that many of each process that it attaches to (default 1000000)
--once	-	once!	-	one round, for cron: what is in the folders now
-q --quiet	-	quiet!	-	say nothing but errors
END
	record_table | awk -F'\t' '/^-/ { shown = $4 ~ /s/ } shown'
}

agent_help() {
	cat <<'END'
usage: ocular agent --store STORE [options] NAME=WHAT...

Stays beside the services of a host until SIGTERM or Ctrl-C, and adds each snapshot of their flight recorders to the
store, with the labels service, host and trigger. A service NAME is:

  NAME=PID            a process; the agent attaches to it
  NAME=FILE.pid       the process whose number is in that file
  NAME=COMMAND        all Python processes of yours with that in their command line; * and ? stand for anything
  NAME=DIR/           what the service itself records: ocular record --flight 100ms --switch-output 1s -o DIR …

A process that ends and starts again is attached to again. An agent that ends, however it ends, goes on where it was when it
is started again.

END
	table_help agent_table
	cat <<'END'

  ocular agent --store runs --budget 200M/day --flight 200ms --trigger 'shop.views:search > 50ms' web=/run/web.pid
  ocular agent --store runs --flight 1s --trigger-lag 100ms api='gunicorn*api' jobs='celery*worker'
  ocular agent --store runs --once web=/var/lib/web/flight.data/
  ocular fleet sql runs 'SELECT label_service, label_trigger, count(*) FROM recording GROUP BY ALL'

It needs DuckDB: pip install "ocular-trace[fleet]", and for a store in a bucket what reads it: "ocular-trace[fleet-s3]".
What is kept for how long: docs/fleet.md.
Exit status: 0 ended in order (--once: all was added), 1 failed, 2 wrong usage.
END
}

agent() {
	for word; do
		case $word in
		-h | --help)
			agent_help
			exit 0
			;;
		esac
	done
	python=${PYTHON:-$own}
	command -v "$python" >/dev/null || die "there is no $python for it: set PYTHON"
	own_module ocular.fleet_agent "$@"
}
