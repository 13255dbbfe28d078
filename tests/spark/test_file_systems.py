#!/usr/bin/env python3
"""ocular fleet spark reads recordings from a real HDFS (a name node and a data node, processes of their own), and from S3 by s3a: rows are those
that ocular fleet add makes of the same recordings here. Hadoop comes from Maven Central, in the version of PySpark's client, S3's server (moto) from
PyPI; Java 17 and Maven must be there.
"""

import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "doors"), os.path.join(os.path.dirname(HERE), "wrapper")]
import hadoop  # noqa: E402
import recording  # noqa: E402
from stores import free_port  # noqa: E402
from test_fleet import Fleet, tree  # noqa: E402
from test_spark import LABELS, MINUTES, recorded, spark, spark_python, unequal  # noqa: E402

MOTO = ("moto[server]",)
BUCKET = "traces"
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


def hadoop_version(duck):
    """Of PySpark's client."""
    code = "import os, pyspark; print(*os.listdir(os.path.join(os.path.dirname(pyspark.__file__), 'jars')))"
    return re.search(r"\bhadoop-client-api-(\S+)\.jar\b", subprocess.run([duck, "-c", code], capture_output=True, text=True, check=True).stdout)[1]


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
    with hadoop.hdfs(folder, port, paths) as java:
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
    with hadoop.server([os.path.join(os.path.dirname(moto), "moto_server"), "-H", "127.0.0.1", "-p", str(port)], folder, "s3.log", "Running on"):
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
    for name, function, artifacts, servers in (("recordings on HDFS", hdfs, hadoop.HDFS, ()), ("recordings on S3, by s3a", s3a, ("hadoop-aws",), MOTO)):
        paths = duck and hadoop.jars(hadoop_version(duck), *artifacts)
        venv = [recording.venv(python, *servers)] if paths and servers else []
        if paths and None not in venv:
            yield name, function, python, duck, paths, *venv
        else:
            yield name, "no PySpark or no Hadoop here: no venv, pip or Maven are offline, or there is no Java"


if __name__ == "__main__":
    recording.run_cases(cases)
