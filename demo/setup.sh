#!/usr/bin/env bash
# Installs the Debian packages that are missing, as root or with sudo: what is needed to build and run tune, and the
# packages named as arguments besides. Says nothing if all are there.
set -euo pipefail

packages=(g++ make cmake ninja-build libcli11-dev libyaml-cpp-dev libboost-dev libfmt-dev libspdlog-dev nlohmann-json3-dev
  libxxhash-dev zlib1g-dev libbz2-dev libopenblas0-pthread xz-utils "$@")

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "setup: install these packages as root, or install sudo: ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
echo "setup: installing ${missing[*]}"
"${as_root[@]}" apt-get -qq update
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "${missing[@]}" >/dev/null
