"""Command lines and configuration."""
import argparse
import configparser

parser = argparse.ArgumentParser(prog="p", description="d", add_help=False)
parser.add_argument("-n", "--number", type=int, default=3, choices=range(9))
parser.add_argument("--flag", action="store_true")
commands = parser.add_subparsers(dest="command")
commands.add_parser("run", add_help=False).add_argument("files", nargs="*")
print(parser.parse_args("-n 5 --flag run a b".split()), parser.parse_args([]))
config = configparser.ConfigParser()
config.read_string("[a]\nx = 1\ny = %(x)s2\n[b]\nlist =\n  one\n  two\n")
print(config.getint("a", "y"), config["b"]["list"].split(), config.sections())
