#!/bin/sh
# make release: refuses what is no release, and its tar builds.
# shellcheck source=tests/wrapper/tap.sh
. "$(dirname "$0")/tap.sh"

# What is here, committed or not, as the one commit of a repository.
repository=$scratch/repository
mkdir "$repository"
(cd "$root" && tar cf - --exclude=./.git --exclude=./build --exclude=__pycache__ --exclude=node_modules .) | tar xf - -C "$repository"
cd "$repository" || exit 1
git() { command git -c user.name=test -c user.email=test@localhost -c init.defaultBranch=main "$@"; }
commit() { git add -A && git commit -qm "$1"; }
release() { OCULAR_BUILD=$scratch/out scripts/release; }
git init -q && commit first

init=helper-ext/ocular/__init__.py
sed -i 's/^__version__ = .*/__version__ = "77.1.0"/' "$init"
ok "changes that are not committed" says 1 'the tree has changes: commit' release
commit version
ok "a version that the changelog does not know" says 1 "no line '## .77.1.0. - 2" release
echo "## [77.1.0] - 2026-12-01" >docs/CHANGELOG.md
commit heading
ok "nothing said of it" says 1 'says nothing of 77.1.0' release
printf '## [Unreleased]\n\n### Added\n\n- late\n\n## [77.1.0] - 2026-12-01\n\n### Added\n\n- all\n' >docs/CHANGELOG.md
commit entry
ok "entries left under Unreleased" says 1 'has entries under Unreleased' release
sed -i '/late/d' docs/CHANGELOG.md
commit moved
ok "a release, and the command that tags it" says 0 "git tag -a v77.1.0 -m 'Ocular 77.1.0'" release
ok "no tag is made" silent git tag
tar=$scratch/out/ocular-77.1.0.tar.gz
ok "the tar has what git has" [ "$(tar tzf "$tar" | grep -v '/$' | sort)" = "$(git ls-files | sed 's|^|ocular-77.1.0/|' | sort)" ]
git tag v77.1.0
ok "a tag that is there" says 1 'there is a tag v77.1.0' release
sed -i '/^__version__/d' "$init"
ok "no version" says 1 'no version in helper-ext' release
rm -rf .git
ok "no repository" says 1 '^release: ' release
done_testing
