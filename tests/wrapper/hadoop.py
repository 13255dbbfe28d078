"""A real HDFS, a name node and a data node that are processes of their own, for tests. Hadoop comes from Maven Central."""

import contextlib
import os
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "doors"))
import recording  # noqa: E402

FETCHING = 1800  # s: 100 MB
MINUTES = 600  # s: a machine with two cores that does other things, too
HDFS = ("hadoop-hdfs", "hadoop-hdfs-client", "hadoop-common")
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>ocular</groupId><artifactId>test</artifactId>
<version>1</version><dependencies>%s</dependencies></project>"""
DEPENDENCY = "<dependency><groupId>org.apache.hadoop</groupId><artifactId>%s</artifactId><version>%s</version></dependency>"
PROPERTY = "<property><name>%s</name><value>%s</value></property>"


def jars(version, *artifacts):
    """Paths of these, and all that they need, fetched once; None: no Maven, or it is offline."""
    folder = os.path.join(recording.BUILD, f"{artifacts[0]}-{version}")
    path = os.path.join(folder, "classpath")
    if not os.path.exists(path):
        if not shutil.which("mvn"):
            return None
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "pom.xml"), "w", encoding="utf-8") as file:
            file.write(POM % "".join(DEPENDENCY % (name, version) for name in artifacts))
        done = recording.run(["mvn", "-q", "-B", "dependency:build-classpath", "-Dmdep.outputFile=" + path + ".new"], cwd=folder, timeout=FETCHING)
        if done.returncode:
            return None
        os.rename(path + ".new", path)
    with open(path, encoding="utf-8") as file:
        return file.read().strip().split(":")


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


@contextlib.contextmanager
def hdfs(folder, port, paths):
    """While it runs: the command that a Java class of Hadoop's is run by."""
    java = ["java", "-Xmx256m", "-cp", ":".join([configuration(folder, port), *paths])]
    node = "org.apache.hadoop.hdfs.server.%snode.%sNode"
    formatted = recording.run([*java, node % ("name", "Name"), "-format", "-nonInteractive"], cwd=folder, timeout=MINUTES)
    if formatted.returncode:
        raise RuntimeError(formatted.stderr[-2000:])
    with server([*java, node % ("name", "Name")], folder, "name.log", "Starting CacheReplicationMonitor"), \
            server([*java, node % ("data", "Data")], folder, "data.log", "successfully registered with NN"):
        yield java
