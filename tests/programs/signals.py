# exit: -15
"""Signals: handlers that return and raise, and one that ends the process."""

import os
import signal


class Ring(Exception):
    pass


def count(number, frame):
    global counted
    counted += 1


def ring(number, frame):
    raise Ring


counted = 0
signal.signal(signal.SIGUSR1, count)
for _ in range(5):
    os.kill(os.getpid(), signal.SIGUSR1)
signal.signal(signal.SIGUSR2, ring)
try:
    while True:
        os.kill(os.getpid(), signal.SIGUSR2)
except Ring:
    print("rang", counted, flush=True)
os.kill(os.getpid(), signal.SIGTERM)
