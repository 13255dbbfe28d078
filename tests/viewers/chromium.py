"""Chromium for tests: spoken to through a pipe, with the Chrome DevTools Protocol."""

import base64
import json
import os
import shutil
import socket
import subprocess
import sys
import time


def found():
    """The program, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


def needed():
    """The program. Without it this ends the test: skipped, but not in CI."""
    if not found():
        print("no chromium here: scripts/setup --for test installs it")
        sys.exit(1 if os.environ.get("CI") else 77)
    return found()


class Chromium:
    """Headless, with one page, spoken to through a pair of pipes: messages are JSON that ends with NUL."""

    def __init__(self, program, folder, link):
        ours, theirs = socket.socketpair()
        fd = theirs.fileno()
        self.process = subprocess.Popen(
            ["sh", "-c", f'exec "$@" 3<&{fd} 4>&{fd}', "sh", program, "--headless=new", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--disable-background-networking", "--no-first-run", "--remote-debugging-pipe",
             f"--user-data-dir={folder}/profile", link],
            pass_fds=[fd], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        theirs.close()
        ours.settimeout(60)
        self.pipe, self.rest, self.number = ours, b"", 0

    def call(self, method, session=None, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params, **({"sessionId": session} if session else {})}
        self.pipe.sendall(json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.rest:
                more = self.pipe.recv(1 << 16)
                if not more:
                    raise RuntimeError("chromium ended")
                self.rest += more
            line, self.rest = self.rest.split(b"\0", 1)
            answer = json.loads(line)
            if answer.get("id") == self.number:
                return answer.get("result", {})

    def page(self):
        """A session with its page, as soon as there is one."""
        while True:
            pages = [each for each in self.call("Target.getTargets")["targetInfos"] if each["type"] == "page"]
            if pages:
                return self.call("Target.attachToTarget", targetId=pages[0]["targetId"], flatten=True)["sessionId"]
            time.sleep(0.1)

    def run(self, page, script):
        """What the script's value is; an exception in it is one here."""
        said = self.call("Runtime.evaluate", page, expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in said:
            raise RuntimeError(str(said["exceptionDetails"].get("exception", said))[:1000])
        return said.get("result", {}).get("value")

    def size(self, page, width, height):
        self.call("Emulation.setDeviceMetricsOverride", page, width=width, height=height, deviceScaleFactor=1, mobile=False)

    def picture(self, page, path):
        """A PNG of what is seen."""
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", page)["data"]))

    def shows(self, wanted, seconds=90):
        """What the page says when all of `wanted` are in it, or at the end of the time."""
        page, deadline, text = self.page(), time.monotonic() + seconds, ""
        while time.monotonic() < deadline and not all(word in text for word in wanted):
            time.sleep(0.3)
            said = self.call("Runtime.evaluate", page, expression="document.title + '\\n' + document.body.innerText")
            text = str(said.get("result", {}).get("value"))
        return text

    def end(self):
        self.process.kill()
        self.process.wait()
