#!/usr/bin/env bash
# Runs a command, `npm test` by default, on several major versions of Node:
#
#   scripts/nodeMatrix.sh [major…] [-- command arguments…]      e.g. scripts/nodeMatrix.sh 22 24 -- npx vitest run
#
# The binaries come as npm packages of the platform, which hold nothing but the binary: no install script has to be
# allowed, which the `node` package would need.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

majors=()
while (($# > 0)) && [[ $1 != -- ]]; do
  majors+=("$1")
  shift
done
[[ ${1-} == -- ]] && shift
((${#majors[@]} > 0)) || majors=(20 22 24 26)
(($# > 0)) || set -- npm test

platform=$(node -p 'process.platform + "-" + process.arch')
case $platform in
  darwin-arm64) package=node-bin-$platform ;;
  *) package=node-$platform ;;
esac

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

failed=()
for major in "${majors[@]}"; do
  home=$directory/$major
  mkdir "$home"
  echo "--- Node $major: $*"
  # A manifest of its own, so that npm does not look for one further up.
  echo '{ "private": true }' >"$home/package.json"
  if ! npm install --prefix "$home" --ignore-scripts --no-audit --no-fund --loglevel=error "$package@$major" >&2; then
    failed+=("$major")
    continue
  fi
  # First on PATH, so that npm, its scripts and every process they start run on this version.
  path=$home/node_modules/$package/bin:$PATH
  version=$(PATH=$path node --version)
  if [[ $version != v$major.* ]]; then
    echo "Expected Node $major, but it is $version" >&2
    failed+=("$major")
    continue
  fi
  echo "--- Node $version"
  PATH=$path "$@" || failed+=("$major")
  # A hundred megabytes each.
  rm -rf "$home"
done

if ((${#failed[@]} > 0)); then
  echo "Failed on Node ${failed[*]}" >&2
  exit 1
fi
