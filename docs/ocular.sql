-- SPDX-License-Identifier: MIT
-- Views of a trace by Ocular (perfetto.md), for Perfetto's "Query (SQL)" or trace_processor: run this once, then for instance
--   select * from ocular_function order by self_ns desc limit 20;
-- All times are ns.

-- A slice for each time a function ran; cpu_ns and waiting_ns are null where the trace does not say them of the thread.
create view ocular_call as
with words(category) as (values ('loop'), ('exception'), ('code'), ('loss'), ('limit'), ('state'), ('opcode'), ('span'),
  ('request'), ('label'), ('snapshot')),
told(tid) as (
  select distinct cast(substr(thread.name, 17) as int) from slice s join thread_track t on s.track_id = t.id
  join thread using (utid) where s.category = 'state' and s.name = 'running' and thread.name like 'state of thread %')
select s.id, s.parent_id, s.ts, s.dur, s.name, s.category as place, s.track_id, thread.tid, thread.name as thread, process.pid,
  case when told.tid is null then null
    else coalesce(extract_arg(s.arg_set_id, 'debug.cpu_ns'), extract_arg(s.arg_set_id, 'args.cpu_ns'), s.dur) end as cpu_ns,
  case when told.tid is null then null
    else coalesce(extract_arg(s.arg_set_id, 'debug.waiting_ns'), extract_arg(s.arg_set_id, 'args.waiting_ns'), 0) end as waiting_ns
from slice s join thread_track t on s.track_id = t.id join thread using (utid) join process using (upid)
left join told on told.tid = thread.tid
where coalesce(s.category, '') not in (select category from words);

-- From each call to the one around it; spans and loops' trips between them are no calls.
create view ocular_caller as
with recursive up(id, at) as (
  select id, parent_id from ocular_call where parent_id is not null
  union all
  select up.id, s.parent_id from up join slice s on s.id = up.at
  where s.category in ('span', 'request', 'loop') and s.parent_id is not null)
select up.id, up.at as caller from up join slice s on s.id = up.at where s.category not in ('span', 'request', 'loop');

-- Each function: how often it ran, and how long without what it called.
create view ocular_function as
with inner_of(id, dur, cpu_ns, waiting_ns) as (
  select caller, sum(dur), sum(cpu_ns), sum(waiting_ns) from ocular_caller join ocular_call using (id) group by 1)
select name, place, count(*) as calls, sum(c.dur - coalesce(i.dur, 0)) as self_ns, sum(c.cpu_ns - coalesce(i.cpu_ns, 0)) as self_cpu_ns,
  sum(c.waiting_ns - coalesce(i.waiting_ns, 0)) as self_waiting_ns, max(c.dur) as longest_ns
from ocular_call c left join inner_of i using (id) group by 1, 2;

-- Each loop: its timed trips; cycles are sums, of whatever counted them ('debug.TSC Cycles', 'args.Hardware Cycles', ...).
create view ocular_loop as
with trip as (
  select s.name, a.int_value as cycles from slice s left join args a on a.arg_set_id = s.arg_set_id and a.key glob '*Cycles*'
  where s.category = 'loop')
select substr(name, 6) as name, count(*) as trips, sum(cycles) as cycles, max(cycles) as longest_cycles from trip group by 1;

-- Each task that has a row: how long it ran, could have, and awaited something.
create view ocular_task as
select thread.name, process.name as tasks_of, min(s.ts) as ts, count(case when s.name = 'running' then 1 end) as resumptions,
  sum(case when s.name = 'running' then s.dur else 0 end) as running_ns, sum(case when s.name = 'ready' then s.dur else 0 end) as ready_ns,
  sum(case when s.name like 'awaiting%' then s.dur else 0 end) as awaiting_ns
from slice s join thread_track t on s.track_id = t.id join thread using (utid) join process using (upid)
where s.category = 'state' and process.name like 'tasks of %' group by thread.utid;

-- Each request as a whole, from its beginning to its end.
create view ocular_request as
select s.id, s.name, s.ts, s.dur, substr(thread.name, instr(thread.name, ' of ') + 4) as task
from slice s join thread_track t on s.track_id = t.id join thread using (utid) join process using (upid)
where s.category = 'request' and process.name like 'tasks of %' and thread.name like 'spans%';

-- For what threads waited, as far as the program or the kernel tells.
create view ocular_wait as
select cast(substr(thread.name, 17) as int) as tid, s.name as kind, count(*) as waits, sum(s.dur) as ns, max(s.dur) as longest_ns
from slice s join thread_track t on s.track_id = t.id join thread using (utid)
where s.category = 'state' and thread.name like 'state of thread %' and s.name <> 'running' group by 1, 2;
