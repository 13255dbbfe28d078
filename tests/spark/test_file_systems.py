#!/usr/bin/env python3
"""ocular fleet spark reads recordings from a real HDFS (a name node and a data node, processes of their own), and from S3 by s3a: rows are those
that ocular fleet add makes of the same recordings here. Hadoop comes from Maven Central, in the version of PySpark's client, S3's server (moto) from
PyPI; Java 17 and Maven must be there.
"""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "doors"), os.path.join(os.path.dirname(HERE), "wrapper")]
import recording  # noqa: E402
from test_fleet import Fleet, tree  # noqa: E402
from test_spark import FETCHING, LABELS, MINUTES, recorded, spark, spark_python, unequal  # noqa: E402

MOTO = ("moto[server]",)
HDFS = ("hadoop-hdfs", "hadoop-hdfs-client", "hadoop-common")
BUCKET = "traces"
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>ocular</groupId><artifactId>test</artifactId>
<version>1</version><dependencies>%s</dependencies></project>"""
DEPENDENCY = "<dependency><groupId>org.apache.hadoop</groupId><artifactId>%s</artifactId><version>%s</version></dependency>"
PROPERTY = "<property><name>%s</name><value>%s</value></property>"
SPLIT = ("--conf", "spark.ocular.split=100k")
# Makes the bucket, and puts a folder into it.
PUT = """
import boto3, os, sys
endpoint, bucket, folder = sys.argv[1:]
s3 = boto3.client("s3", endpoint_url=endpoint, aws_access_key_id="a", aws_secret_access_key="b", region_name="us-east-1")
s3.create_bucket(Bucket=bucket)
for at, _, names in os.walk(folder):
    for name in names:
        s3.upload_file(os.path.join(at, name), bucket, os.path.join(at, name).lstrip("/"))
"""


def jars(duck, *artifacts):
    """Paths of these, and all that they need, fetched once; None: no Maven, or it is offline."""
    found, = (re.match(r"hadoop-client-api-(.+)\.jar$", name) for name in os.listdir(subprocess.run(
        [duck, "-c", "import os, pyspark; print(os.path.join(os.path.dirname(pyspark.__file__), 'jars'))"], capture_output=True, text=True, check=True)
        .stdout.strip()) if name.startswith("hadoop-client-api"))
    folder = os.path.join(recording.BUILD, f"{artifacts[0]}-{found[1]}")
    path = os.path.join(folder, "classpath")
    if not os.path.exists(path):
        if not shutil.which("mvn"):
            return None
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "pom.xml"), "w", encoding="utf-8") as file:
            file.write(POM % "".join(DEPENDENCY % (name, found[1]) for name in artifacts))
        done = recording.run(["mvn", "-q", "-B", "dependency:build-classpath", "-Dmdep.outputFile=" + path + ".new"], cwd=folder, timeout=FETCHING)
        if done.returncode:
            return None
        os.rename(path + ".new", path)
    with open(path, encoding="utf-8") as file:
        return file.read().strip().split(":")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextlib.contextmanager
def server(command, folder, log, said):
    """While it runs; it is there when a line of its log has that."""
    path = os.path.join(folder, log)
    with open(path, "w", encoding="utf-8") as file, subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=file, stderr=file) as process:
        try:
            for _ in range(MINUTES * 10):
                with open(path, encoding="utf-8", errors="replace") as lines:
                    text = lines.read()
                if said in text:
                    break
                if process.poll() is not None:
                    raise RuntimeError(text[-2000:])
                time.sleep(0.1)
            else:
                raise RuntimeError(f"{log} does not say: {said}")
            yield
        finally:
            process.kill()


def configuration(folder, port):
    """Of the two nodes. Blocks of 1 MiB, so that files have several."""
    conf = os.path.join(folder, "conf")
    for name in ("hdfs", "datanode", "static"):
        os.makedirs(os.path.join(conf, "webapps", name))
    for name, settings in (("core-site.xml", {"fs.defaultFS": f"hdfs://127.0.0.1:{port}", "hadoop.tmp.dir": f"{folder}/hadoop"}), ("hdfs-site.xml", {
            "dfs.namenode.http-address": "127.0.0.1:0", "dfs.datanode.address": "127.0.0.1:0", "dfs.datanode.http.address": "127.0.0.1:0",
            "dfs.datanode.ipc.address": "127.0.0.1:0", "dfs.replication": 1, "dfs.blocksize": 1 << 20})):
        with open(os.path.join(conf, name), "w", encoding="utf-8") as file:
            file.write("<configuration>%s</configuration>" % "".join(PROPERTY % each for each in settings.items()))
    with open(os.path.join(conf, "log4j.properties"), "w", encoding="utf-8") as file:
        file.write("log4j.rootLogger=INFO,E\nlog4j.appender.E=org.apache.log4j.ConsoleAppender\nlog4j.appender.E.target=System.err\n"
                   "log4j.appender.E.layout=org.apache.log4j.PatternLayout\nlog4j.appender.E.layout.ConversionPattern=%c{1}: %m%n\n")
    return conf


def as_here(fleet, at, *words):
    """What is at that address has the rows of what is here, also in parts; again, nothing changes; and what is not there is said in a line."""
    done = spark(fleet, "many", at + fleet.folder + "/all", *LABELS, *SPLIT, *words)
    problems = [f"exit {done.returncode}: {done.stdout}{done.stderr}"] * (done.returncode != 0 or done.stderr != "" or at not in done.stdout)
    names = sorted(os.listdir(os.path.join(fleet.folder, "all")))
    fleet.must("add", "one", *(f"all/{name}" for name in names), *LABELS)
    problems += unequal(fleet, "many", at)
    before = tree(os.path.join(fleet.folder, "many"))
    done = spark(fleet, "many", at + fleet.folder + "/all/*.ocular", *LABELS, *words, master="local[1]")
    problems += [f"again: exit {done.returncode}: {done.stdout}{done.stderr}"] * (done.returncode != 0 or done.stdout.count("in the store already") != 2)
    done = spark(fleet, "many", at + "/nowhere", *words, master="local[1]")
    problems += [f"nowhere: {done.stderr}"] * (done.returncode != 1 or done.stderr != f"ocular: no recording '{at}/nowhere'\n")
    return problems + ["touched"] * (tree(os.path.join(fleet.folder, "many")) != before)


def hdfs(python, duck, paths, folder):
    fleet, port = Fleet(python, duck, folder), free_port()
    recorded(fleet)
    java = ["java", "-Xmx256m", "-cp", ":".join([configuration(folder, port), *paths])]
    node = "org.apache.hadoop.hdfs.server.%snode.%sNode"
    formatted = recording.run([*java, node % ("name", "Name"), "-format", "-nonInteractive"], cwd=folder, timeout=MINUTES)
    if formatted.returncode:
        raise RuntimeError(formatted.stderr[-2000:])
    with server([*java, node % ("name", "Name")], folder, "name.log", "Starting CacheReplicationMonitor"), \
            server([*java, node % ("data", "Data")], folder, "data.log", "successfully registered with NN"):
        for words in (("-mkdir", "-p", folder), ("-put", "all", folder)):
            done = recording.run([*java, "org.apache.hadoop.fs.FsShell", *words], cwd=folder, timeout=MINUTES)
            if done.returncode:
                raise RuntimeError(done.stderr[-2000:])
        return as_here(fleet, f"hdfs://127.0.0.1:{port}")


def s3a(python, duck, paths, moto, folder):
    fleet, port = Fleet(python, duck, folder), free_port()
    recorded(fleet)
    endpoint = f"http://127.0.0.1:{port}"
    options = {"jars": ",".join(paths), **{f"hadoop.fs.s3a.{name}": value for name, value in (
        ("endpoint", endpoint), ("path.style.access", "true"), ("access.key", "a"), ("secret.key", "b"), ("endpoint.region", "us-east-1"))}}
    words = [word for name, value in options.items() for word in ("--conf", f"spark.{name}={value}")]
    with server([os.path.join(os.path.dirname(moto), "moto_server"), "-H", "127.0.0.1", "-p", str(port)], folder, "s3.log", "Running on"):
        done = recording.run([moto, "-c", PUT, endpoint, BUCKET, os.path.join(folder, "all")])
        if done.returncode:
            raise RuntimeError(done.stderr[-2000:])
        problems = as_here(fleet, f"s3a://{BUCKET}", *words)
        done = spark(fleet, "many", "s3a://other/all", *words, master="local[1]")
        return problems + [f"no bucket: {done.stderr}"] * (done.returncode != 1 or done.stderr.count("\n") != 1 or "cannot read 's3a://other/all'" not in done.stderr)


def cases(python, chosen):
    if python != recording.pythons(chosen)[-1]:
        return
    duck = spark_python(python)
    for name, function, artifacts, servers in (("recordings on HDFS", hdfs, HDFS, ()), ("recordings on S3, by s3a", s3a, ("hadoop-aws",), MOTO)):
        paths = duck and jars(duck, *artifacts)
        venv = [recording.venv(python, *servers)] if paths and servers else []
        if paths and None not in venv:
            yield name, function, python, duck, paths, *venv
        else:
            yield name, "no PySpark or no Hadoop here: no venv, pip or Maven are offline, or there is no Java"


if __name__ == "__main__":
    recording.run_cases(cases)
