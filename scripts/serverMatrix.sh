#!/usr/bin/env bash
# Runs a command, `npm test` by default, with other servers than the distribution's redis-server:
#
#   scripts/serverMatrix.sh [package@suite…] [-- command arguments…]
#   scripts/serverMatrix.sh valkey@trixie -- npx vitest run test/contract
#
# The servers are those of other suites of Debian, from the mirror this machine uses. They are unpacked into a temporary
# folder with the libraries of their suite and run with these; nothing is installed, and no right to do so is needed.
# Exits with 69 if no server failed but one could not be had.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

servers=()
while (($# > 0)) && [[ $1 != -- ]]; do
  servers+=("$1")
  shift
done
[[ ${1-} == -- ]] && shift
((${#servers[@]} > 0)) || servers=(valkey@bookworm-backports redis@trixie valkey@trixie)
(($# > 0)) || set -- npm test

mirror=$(apt-get indextargets --format '$(SITE)' | grep -E '/debian/?$' | sort -u | head -n 1)
if [[ -z $mirror ]]; then
  echo 'No mirror of Debian among the package sources of this machine' >&2
  exit 69
fi

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# unpack <package> <suite> <home>: what the package needs of its suite, in home/root, without anything of this machine.
unpack() {
  local package=$1 suite=$2 home=$3 archive
  mkdir -p "$home"/{root,bin,lists/partial,archives/partial}
  : >"$home/status"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" >"$home/sources.list"
  # Backports hold only what was ported back.
  case $suite in
    *-backports)
      echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror ${suite%-backports} main" \
        >>"$home/sources.list"
      ;;
  esac
  local apt=(
    apt-get -qq -y
    -o "Dir::State::status=$home/status"
    -o "Dir::State::lists=$home/lists"
    -o "Dir::Cache::archives=$home/archives"
    -o "Dir::Cache::pkgcache="
    -o "Dir::Cache::srcpkgcache="
    -o "Dir::Etc::sourcelist=$home/sources.list"
    -o "Dir::Etc::sourceparts=-"
    -o "Debug::NoLocking=true"
    -o "APT::Sandbox::User="
  )
  "${apt[@]}" update
  "${apt[@]}" install --download-only --no-install-recommends --target-release "$suite" "$package-server" "$package-tools"
  for archive in "$home"/archives/*.deb; do
    dpkg-deb --extract "$archive" "$home/root"
  done
  rm -rf "$home"/{lists,archives}

  local library_path loader
  library_path=$(find "$home/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd :)
  loader=$(find "$home/root" -name 'ld-linux*' | head -n 1)
  local name
  for name in "$home/root/usr/bin/$package"-{server,cli}; do
    printf '#!/bin/sh\nexec "%s" --library-path "%s" "%s" "$@"\n' "$loader" "$library_path" "$name" \
      >"$home/bin/redis-${name##*-}"
    chmod +x "$home/bin/redis-${name##*-}"
  done
}

failed=()
missing=()
for server in "${servers[@]}"; do
  home=$directory/${server/@/-}
  echo "--- $server: $*"
  # In a shell of its own: in a condition, the first failure would not end it.
  if ! bash -euo pipefail -c "$(declare -f unpack); mirror=\$0; unpack \"\$@\"" \
    "$mirror" "${server%@*}" "${server#*@}" "$home" >&2; then
    missing+=("$server")
    continue
  fi
  # First on PATH, and named as what is looked for first.
  path=$home/bin:$PATH
  echo "--- $(PATH=$path redis-server --version)"
  PATH=$path "$@" || failed+=("$server")
  rm -rf "$home"
done

if ((${#failed[@]} > 0)); then
  echo "Failed with ${failed[*]}" >&2
  exit 1
fi
if ((${#missing[@]} > 0)); then
  echo "Could not be had: ${missing[*]}" >&2
  exit 69
fi
