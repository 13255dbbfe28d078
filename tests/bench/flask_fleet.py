#!/usr/bin/env python3
"""A fleet store of a real service: three releases of a Flask application on four hosts, under load over the loopback interface.

    flask_fleet.py STORE [--python PY] [--rounds N] [--requests N]

In each round each release is recorded on each host (`ocular record --fleet STORE --label release=... --label host=...`): the hosts are four
processes at the same time, each with a client of its own. Release 1.4 has a planted regression: Shop.discount() looks customers up in
a list, which was a set. docs/fleet.md has what `ocular fleet slower STORE --by release 1.3 1.4` says of it. Flask and DuckDB come from PyPI.
"""

import argparse
import http.client
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "doors"))
import recording  # noqa: E402

RELEASES, HOSTS = ("1.2", "1.3", "1.4"), ("web1", "web2", "web3", "web4")
PATIENCE = 60  # s until a service answers

SERVICE = """
import sys, threading
import flask
from werkzeug.serving import make_server

class Shop:
    def __init__(self):
        self.prices = {f"item{n}": 100 + n * 37 %% 91 for n in range(500)}
        self.regulars = %(regulars)s(f"customer{n}" for n in range(60))

    def discount(self, customer):
        return 5 if customer in self.regulars else 0

    def price(self, item, customer):
        return self.prices[item] * (100 - self.discount(customer)) // 100

    def search(self, text):
        return sorted(item for item in self.prices if text in item)

shop, app = Shop(), flask.Flask("shop")

@app.get("/search/<text>")
def search(text):
    customer = flask.request.args["customer"]
    rows = [(item, shop.price(item, customer)) for item in shop.search(text)]
    return flask.render_template_string("{%% for item, price in rows %%}<p>{{ item }}: {{ price }}</p>{%% endfor %%}", rows=rows)

@app.get("/cart")
def cart():
    items = flask.request.args.getlist("item")
    return {"total": sum(shop.price(item, flask.request.args["customer"]) for item in items), "items": items}

@app.get("/quit")
def quit():
    threading.Thread(target=server.shutdown).start()
    return ""

server = make_server("127.0.0.1", int(sys.argv[1]), app, threaded=True)
server.daemon_threads = False  # the last answer is sent before it ends
server.serve_forever()
server.server_close()
"""


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def ask(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request("GET", path)
    answer = connection.getresponse()
    if answer.status != 200:
        raise RuntimeError(f"{path}: {answer.status}")
    answer.read()
    connection.close()


def wait_for(port):
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return ask(port, "/search/item499?customer=nobody")
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(.05)


def load(port, requests):
    """The same requests of each host and release."""
    wait_for(port)
    for n in range(requests):
        customer = f"customer{n * 7 % 90}"
        items = "".join(f"&item=item{(n + k * 31) % 500}" for k in range(20))
        ask(port, f"/search/{n % 50}?customer={customer}" if n % 4 == 0 else f"/cart?customer={customer}{items}")
    ask(port, "/quit")


def record(options, python, release, host, folder, problems):
    """One recording of one host."""
    app = os.path.join(folder, f"shop-{release}", "shop.py")
    port = free_port()
    process = subprocess.Popen([recording.WRAPPER, "record", "-q", "--python", python, "-o", os.path.join(folder, host), "--fleet", options.store,
                                "--label", f"release={release}", "--label", f"host={host}", "--", app, str(port)],
                               env=recording.plain_environment(PYTHON=python), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        load(port, options.requests)
    except (OSError, RuntimeError) as e:
        problems.append(f"{release} {host}: {e}")
        process.send_signal(signal.SIGTERM)
    said = process.communicate()[1]
    if process.returncode:
        problems.append(f"{release} {host}: exit {process.returncode}: {said[-300:]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("store")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--requests", type=int, default=200)
    options = parser.parse_args()
    options.store = os.path.abspath(options.store)
    python = recording.venv(options.python, "duckdb", "flask") or sys.exit("no Flask: " + recording.NO_VENV)
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        for release in RELEASES:
            os.mkdir(os.path.join(folder, f"shop-{release}"))
            with open(os.path.join(folder, f"shop-{release}", "shop.py"), "w", encoding="utf-8") as file:
                file.write(SERVICE % {"regulars": "list" if release == "1.4" else "set"})
        for n in range(options.rounds):
            for release in RELEASES:  # in turn, so that the machine's other load meets all
                hosts = [threading.Thread(target=record, args=(options, python, release, host, folder, problems)) for host in HOSTS]
                for host in hosts:
                    host.start()
                for host in hosts:
                    host.join()
            print(f"round {n + 1} of {options.rounds}", file=sys.stderr)
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"PYTHON={python} ocular fleet slower {options.store} --by release {RELEASES[-2]} {RELEASES[-1]}")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
