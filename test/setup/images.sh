#!/usr/bin/env bash
# Builds images of real Redis and Valkey servers from Debian's packages, under the names of the published ones, for a
# machine that reaches a Debian mirror but no image registry. Needs root, apt and a Docker engine that answers.
#
# Usage: images.sh [NAME ...]   redis:7  redis:8  valkey/valkey:8  valkey/valkey:9   (no name: all four)
set -euo pipefail

# The mirror and the keys are those of this machine; only the suite differs from image to image.
mirror=$(awk '/^URIs:/{print $2; exit}' /etc/apt/sources.list.d/*.sources 2>/dev/null || true)
[ -n "$mirror" ] || mirror=$(awk '/^deb /{for (i = 2; i <= NF; i++) if ($i ~ /^http/) {print $i; exit}}' /etc/apt/sources.list)
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# apt, with a world of its own for each suite: nothing of the machine's package state is read or changed.
apt_for() { # suite, then apt-get's own arguments
  local home="$work/$1"
  apt-get -qq -oDir::Etc::sourcelist="$home/sources.list" -oDir::Etc::sourceparts=- -oDir::State::Lists="$home/lists" \
    -oDir::Cache="$home/cache" -oDir::State::status="$home/status" -oAPT::Install-Recommends=false \
    -oAPT::Sandbox::User=root "${@:2}"
}

# Package lists are fetched once for each suite: two images share one.
prepare() { # suite
  local home="$work/$1"
  [ ! -d "$home" ] || return 0
  mkdir -p "$home"/{lists/partial,cache/archives/partial}
  : >"$home/status"
  echo "deb [signed-by=$keyring] $mirror $1 main" >"$home/sources.list"
  apt_for "$1" update
}

build() { # image suite package
  local image=$1 suite=$2 package=$3 root
  if docker image inspect "$image" >/dev/null 2>&1; then
    echo "$image: present, left alone"
    return
  fi
  prepare "$suite"
  # The status file is empty, so apt brings everything the server needs, libc included; busybox gives the image a shell.
  rm -f "$work/$suite"/cache/archives/*.deb
  apt_for "$suite" -y --download-only install "$package" busybox-static >/dev/null
  root=$(mktemp -d -p "$work")
  for deb in "$work/$suite"/cache/archives/*.deb; do dpkg-deb -x "$deb" "$root"; done
  for dir in bin sbin lib lib64; do [ -e "$root/$dir" ] || ln -s "usr/$dir" "$root/$dir"; done
  mkdir -p "$root/tmp" "$root/data"
  [ -e "$root/bin/sh" ] || ln -s busybox "$root/bin/sh"
  tar -C "$root" -c . | docker import -c 'ENV PATH=/usr/local/bin:/usr/bin:/bin' -c 'EXPOSE 6379' -c 'WORKDIR /data' \
    -c "CMD [\"$package\", \"--protected-mode\", \"no\"]" - "$image" >/dev/null
  rm -rf "$root"
  echo "$image: $(docker run --rm "$image" "$package" --version)"
}

[ $# -gt 0 ] || set -- redis:7 redis:8 valkey/valkey:8 valkey/valkey:9
for image in "$@"; do
  case $image in
    redis:7) build "$image" bookworm redis-server ;;
    redis:8) build "$image" trixie redis-server ;;
    valkey/valkey:8) build "$image" trixie valkey-server ;;
    valkey/valkey:9) build "$image" forky valkey-server ;;
    *)
      echo "images.sh: unknown image $image" >&2
      exit 2
      ;;
  esac
done
