# SPDX-License-Identifier: MIT
"""What is sent to a receiver, what becomes of each of its answers, and that no message has what is secret. The command:
tests/wrapper/test_push.py.
"""

import base64
import contextlib
import datetime
import email.utils
import gzip
import os
import sys
import tempfile

import rec
from rec import equal

sys.path.insert(0, os.path.join(rec.BUILD, "python"))
sys.path.insert(0, os.path.join(rec.ROOT, "tests", "doors"))
from ocular import push, push_http  # noqa: E402
from ocular.push_http import ANSWER, Failed, Sender, Target  # noqa: E402
import receiver  # noqa: E402
from receiver import answer  # noqa: E402

os.environ["no_proxy"] = "127.0.0.1"
PROTOBUF = {"Content-Type": "application/x-protobuf"}
LARGE = 8 << 20  # bytes, more than a connection holds


@contextlib.contextmanager
def file_of(data):
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        yield file.name


class Sent:
    """One file that was sent to a receiver with these answers: what came of it."""

    def __init__(self, *answers, format="otlp", data=b"profile", url="%s", headers=None, tries=3, timeout=push_http.TIMEOUT):
        self.waits, self.whys = [], []
        with receiver.receiver(*answers) as server, file_of(data) as file, tempfile.TemporaryDirectory() as folder:
            open(os.path.join(folder, "perf.data"), "wb").close()
            sender = Sender(headers or {}, tries, timeout, self.wait)
            self.said, self.failed = None, None
            try:
                self.said = push.push(format, url % server.url if "%s" in url else url, file, folder, sender).replace(server.url, "URL")
            except Failed as e:
                self.failed = str(e).replace(server.url, "URL")
        self.taken = server.taken

    def wait(self, why, seconds):
        self.whys.append(why)
        self.waits.append(seconds)


def bytes_field(number, data):
    return bytes([number << 3 | 2, len(data)]) + data


def test_one_that_is_taken():
    sent = Sent(answer(200, **PROTOBUF))
    request, = sent.taken
    equal((sent.said, sent.failed, sent.waits), ("sent %d bytes of otlp to URL/v1development/profiles" % len(request.body), None, []))
    equal(request.path, "/v1development/profiles")
    equal(gzip.decompress(request.body), b"profile")
    equal([request.headers[name] for name in ("Content-Type", "Content-Encoding", "OTLP-Profiles-Development-Version")],
          ["application/x-protobuf", "gzip", "1"])
    assert request.headers["User-Agent"].startswith("ocular/"), request.headers.items()


def test_what_is_compressed_is_sent_as_it_is():
    data = gzip.compress(b"profile")
    equal(Sent(data=data).taken[0].body, data)
    for format in ("pprof", "collapsed"):
        request, = Sent(format=format, data=data).taken
        equal((request.body, request.headers["Content-Encoding"]), (data, None))


def test_the_path_of_a_url_counts():
    equal([Sent(url="%s" + path).taken[0].path for path in ("", "/", "/mine", "/mine/?a=b&c=")],
          ["/v1development/profiles", "/v1development/profiles", "/mine", "/mine/?a=b&c="])


def test_throttled():
    sent = Sent(answer(429, **{"Retry-After": "7"}), answer(429, **{"Retry-After": "0"}))
    equal((len(sent.taken), sent.waits), (3, [7.0, 0.0]))
    equal([request.body for request in sent.taken], [sent.taken[0].body] * 3)
    past = email.utils.format_datetime(datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=1), usegmt=True)
    equal(Sent(answer(503, **{"Retry-After": past})).waits, [0.0])


def test_one_that_asks_for_too_much_patience():
    later = email.utils.format_datetime(datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=1), usegmt=True)
    for words in ("301", later):
        sent = Sent(answer(429, **{"Retry-After": words}))
        equal((len(sent.taken), sent.waits), (1, []))
        assert "429 Too Many Requests, and it asks to wait " in sent.failed, sent.failed
    equal(Sent(answer(429, **{"Retry-After": "300"})).waits, [300.0])


def test_pauses_grow_and_differ():
    sent = Sent(*[answer(status) for status in (502, 503, 504, 429)], tries=5)
    equal(len(sent.taken), 5)
    assert all(n / 2 <= wait <= n for n, wait in zip((1, 2, 4, 8), sent.waits)) and len(sent.waits) == 4, sent.waits
    assert sent.said.endswith("; an earlier try may have been taken, too, and then it is there twice"), sent.said
    equal(sent.whys[0], "%s: 502 Bad Gateway" % sent.whys[0].partition(": ")[0])
    assert max(Sender._pause(tries) for tries in range(1, 100)) <= push_http.PAUSE


def test_tries_are_bounded():
    sent = Sent(*[answer(503)] * 4)
    equal((len(sent.taken), sent.failed), (3, "URL/v1development/profiles: 503 Service Unavailable (3 tries)"))
    equal(len(Sent(answer(503), tries=1).taken), 1)


def test_what_is_final_is_not_tried_again():
    for status in (400, 401, 403, 404, 408, 413, 415, 422, 500, 501):
        sent = Sent(answer(status), answer(200))
        equal((len(sent.taken), sent.waits), (1, []))
        assert " %d " % status in sent.failed and "tries" not in sent.failed, sent.failed


def test_what_a_refusal_says():
    status = bytes_field(2, b"invalid\x1b[2J version")
    equal(Sent(answer(400, status, **PROTOBUF)).failed, "URL/v1development/profiles: 400 Bad Request: invalid?[2J version")
    equal(Sent(answer(400, b"no\n\x00  such tenant")).failed, "URL/v1development/profiles: 400 Bad Request: no ? such tenant")
    page = b"<html><head><title>Error</title><style>p {}</style></head><body><p>Not <b>here</b></p></html>"
    equal(Sent(answer(404, page, **{"Content-Type": "text/html; charset=utf-8"})).failed, "URL/v1development/profiles: 404 Not Found: Not here")
    assert len(Sent(answer(400, b"long " * 10000)).failed) < 2 * push_http.SAID
    equal(Sent(answer(400, b"\xff\x80", **PROTOBUF)).failed.partition(": ")[2][:15], "400 Bad Request")


def test_nobody_there():
    with receiver.nobody() as url:
        sent = Sent(url=url)
        equal((sent.failed, len(sent.waits)), (url + "/v1development/profiles: Connection refused (3 tries)", 2))


def test_one_that_never_answers():
    sent = Sent(receiver.silent, receiver.silent, tries=2, timeout=0.2)
    equal((len(sent.taken), sent.failed), (2, "URL/v1development/profiles: no answer within 0.2 s (2 tries)"))


def test_closed_midway():
    sent = Sent(receiver.cut, data=os.urandom(LARGE))
    equal((len(sent.taken), len(sent.waits)), (2, 1))
    equal(len(gzip.decompress(sent.taken[1].body)), LARGE)
    assert "may have been taken" in sent.said, sent.said
    sent = Sent(receiver.cut_answer, receiver.cut_answer, receiver.cut_answer)
    equal((len(sent.taken), sent.failed), (3, "URL/v1development/profiles: it closed the connection without a whole answer (3 tries)"))


def test_a_refusal_before_all_was_sent():
    sent = Sent(receiver.early(413, b"too large"), format="pprof", data=os.urandom(LARGE))
    equal((len(sent.taken), sent.failed), (1, "URL/ingest: 413 Request Entity Too Large: too large" if sys.version_info < (3, 13)
                                           else "URL/ingest: 413 Content Too Large: too large"))


def test_nobody_is_followed():
    with receiver.receiver() as other:
        for status in (301, 302, 303, 307, 308):
            sent = Sent(answer(status, Location=other.url + "/there?token=hidden"), headers={"Authorization": "Bearer hidden"})
            equal(len(sent.taken), 1)
            assert sent.failed.endswith(", to %s/there; name that URL" % other.url) and "hidden" not in sent.failed, sent.failed
    equal(other.taken, [])


def test_partly_taken():
    partial = bytes_field(1, bytes([1 << 3, 2]) + bytes_field(2, b"too old"))
    sent = Sent(answer(200, partial, **PROTOBUF))
    equal((len(sent.taken), sent.failed), (1, "URL/v1development/profiles: it rejected 2 of the profiles: too old"))
    warning = bytes_field(1, bytes_field(2, b"an old client"))
    equal(Sent(answer(200, warning, **PROTOBUF)).failed, None)
    for body in (b"\x0a\x7f", b"\x0b", b"\x08\x01", bytes_field(1, bytes_field(1, b"many"))):
        equal(Sent(answer(200, body, **PROTOBUF)).failed, "URL/v1development/profiles: its answer is not an OTLP receiver's")


def test_what_is_no_receiver():
    page = {"Content-Type": "text/html"}
    equal(Sent(answer(200, b"<p>Hello", **page)).failed, "URL/v1development/profiles: its answer is of type text/html, not an OTLP receiver's")
    equal(Sent(answer(200, b"<p>Hello", **page), format="pprof").failed, "URL/ingest: its answer is a web page, not a receiver's")
    equal(Sent(answer(200, b"x" * (ANSWER + 1))).failed, "URL/v1development/profiles: its answer is longer than 4 MiB")
    equal(Sent(answer(202, b"", **page)).failed, None)


@contextlib.contextmanager
def all_that_is_said():
    before, push_http.SAID = push_http.SAID, 1 << 20
    try:
        yield
    finally:
        push_http.SAID = before


def test_secrets_stay_secret():
    url = "http://me:pass%%40word@%s/in?key=querysecret"
    headers = {"Authorization": "Bearer tokensecret", "X-Key": "keysecret"}
    for status in (200, 400, 503):
        with receiver.receiver(*[receiver.echo(status)] * 2) as server, file_of(b"profile") as file, all_that_is_said():
            whys = []
            try:
                text = push.push("otlp", url % server.url.partition("//")[2], file, ".", Sender(headers, 2, wait=lambda why, _: whys.append(why)))
            except Failed as e:
                text = str(e)
        request = server.taken[0]
        equal([request.headers["X-Key"], request.headers["Authorization"]], ["keysecret", "Bearer tokensecret"])
        assert status == 200 or text.count("***") >= 3, text
        for secret in ("tokensecret", "keysecret", "querysecret", "pass@word", "pass%40word", "me:"):
            assert secret not in text + "".join(whys), (secret, text, whys)


def test_user_and_password():
    with receiver.receiver(receiver.echo(400)) as server, file_of(b"profile") as file, all_that_is_said():
        try:
            text = push.push("otlp", "http://me:pass%40word@" + server.url.partition("//")[2], file, ".", Sender({}))
        except Failed as e:
            text = str(e)
    encoded = base64.b64encode(b"me:pass@word").decode()
    equal(server.taken[0].headers["Authorization"], "Basic " + encoded)
    assert encoded not in text and "***" in text, text


def test_what_is_no_url():
    for url in ("", "http://", "ftp://a", "http://a:b", "http://a b", "http://[::1", "http://a\nb", "a", "//a", "http://:80", "file:///etc/passwd",
                "http://h:99999", "http://\u00e9..h", "http://a..b", "http://%s" % ("a" * 70)):
        try:
            Target(url)
        except Failed as e:
            equal(str(e), "not a URL like http://HOST:PORT or https://HOST/PATH")
        else:
            raise AssertionError(url)
    equal([Target(url).shown for url in ("https://u:p@h:1/x?y#z", "http://[::1]:80", "http://h/a%20b/é", "http://bücher.de")],
          ["https://h:1/x", "http://[::1]:80", "http://h/a%20b/%C3%A9", "http://xn--bcher-kva.de"])


def test_headers():
    equal(push.headers_of("Authorization: Bearer a:b\nX-Scope-OrgID:  one \n\n", "it"), {"Authorization": "Bearer a:b", "X-Scope-OrgID": "one"})
    with file_of(b"# of us\nAuthorization: Bearer hidden\n\n@/etc/passwd\n") as file:
        equal(push.headers_of("X: y\n@" + file, "it"), {"X": "y", "Authorization": "Bearer hidden"})
    with file_of(b"hidden\n") as wrong, file_of(b"\xff") as binary:
        for words in ("hidden", "a b: hidden", "A:", "A: hidd\u00e9n", "A: hidden\tx", "Content-Length: 3", "@" + wrong, "@" + binary, "@/no/such"):
            try:
                push.headers_of(words, "--push-header")
            except Failed as e:
                assert "hidd" not in str(e) and "\n" not in str(e), (words, e)
            else:
                raise AssertionError(words)


def test_lines_that_pyroscope_would_leave_out():
    sent = Sent(format="collapsed", data=b"f 1\n" + b"g;" * (32 << 10) + b"h 2\n")
    equal((sent.taken, sent.failed.partition(",")[0]), ([], "a line of it has 65540 bytes"))
    equal(Sent(format="collapsed", data=b"f 1\n" + b"g" * 65530 + b" 2\n").failed, None)


rec.run(globals())
