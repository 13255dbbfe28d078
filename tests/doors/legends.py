"""What must be true of every summary and pstats file, whatever was traced: no figure contradicts its legend."""


def of_summary(summary):
    """Lines that say what is wrong in one."""
    trace, functions, loops = summary["trace"], summary["functions"], summary["loops"]
    everything = functions + summary["c_functions"]
    for unit in ("ns", "cycles"):
        total = sum(f[f"self_{unit}"] for f in everything + summary["collections"]) + trace[f"outside_{unit}"]
        if total != trace[f"traced_{unit}"]:
            yield f"self times and outside are {total} {unit} of {trace[f'traced_{unit}']}"
        for f in everything:
            if not 0 <= f[f"self_{unit}"] <= f[f"total_{unit}"]:
                yield f"{f['qualname']}: self {f[f'self_{unit}']} of total {f[f'total_{unit}']} {unit}"
    for f in functions:
        if f["calls"] + f["resumes"] > f["activations"] or f["recursive_calls"] > f["calls"]:
            yield f"{f['qualname']}: {f['calls']} calls, {f['resumes']} resumptions of {f['activations']} activations"
        if f["unfinished"] > f["activations"]:
            yield f"{f['qualname']}: {f['unfinished']} unfinished of {f['activations']}"
    for name, n in summary["events"].items():
        found = sum(f["events"].get(name, 0) for f in functions)
        if found != n:
            yield f"{n} events {name}, by function {found}"
    for loop in loops:
        where = f"loop {loop['qualname']}:{loop['line']}"
        if not 0 <= loop["own_share"] <= loop["share"] + 1e-9 or loop["share"] > 1:
            yield f"{where}: own {loop['own_share']} of share {loop['share']}"
        if loop["timed"] > loop["iterations"] or not loop["trips"]["entries"] <= loop["entries"] <= loop["iterations"]:
            yield f"{where}: {loop['timed']} timed of {loop['iterations']}, {loop['entries']} entries"
        cycles = loop["cycles"]
        if not cycles["min"] <= cycles["median"] <= cycles["p99"] <= cycles["max"]:
            yield f"{where}: {cycles}"
        if not cycles["min"] - 1e-6 <= cycles["mean"] <= cycles["max"] + 1e-6:
            yield f"{where}: {cycles}"
    own = sum(loop["own_share"] for loop in loops)
    if own > 1 + 1e-6:  # shares have nine digits
        yield f"own shares of loops are {own} together"


def of_pstats(rows, traced_ns):
    """The same for the dict that pstats loads. Times are in seconds."""
    least = 1e-9 * (len(rows) + 1)
    own = sum(row[2] for row in rows.values())
    if own > traced_ns / 1e9 + least:
        yield f"pstats: own times are {own} s of {traced_ns / 1e9}"
    for label, (direct, calls, self, total, callers) in rows.items():
        if not (0 <= direct <= calls and -least <= self <= total + least and total <= traced_ns / 1e9 + least):
            yield f"pstats: {label}: {direct} of {calls} calls, self {self} of total {total} of {traced_ns / 1e9} s"
        if sum(row[0] for row in callers.values()) > calls:
            yield f"pstats: {label}: {calls} calls, callers made more"
        if sum(row[2] for row in callers.values()) > self + least:
            yield f"pstats: {label}: self {self}, by callers more"
