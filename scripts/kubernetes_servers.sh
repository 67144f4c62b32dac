#!/usr/bin/env bash
# Builds Kubernetes' API server, scheduler and controllers from Debian's source package into .kubernetes/, and installs etcd, for the heavy
# tests of the engine "kubernetes": make kubernetes. Ten minutes of two cores, once: `make clean` leaves them.
#
# Debian has no binaries of them. Its source is of 1.20, and is built with Debian's Go. Where that is not possible those tests are skipped, and say so.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly folder=$(realpath -m "${HEADWAY_KUBERNETES:-.kubernetes}")
readonly programs="kube-apiserver kube-scheduler kube-controller-manager"
readonly needed="etcd-server golang-go dpkg-dev golang-github-modern-go-reflect2-dev"

skip() {
  echo "$1: tests of Kubernetes will be skipped"
  exit 0
}

is_built() {
  local program
  for program in $programs; do [ -x "$folder/$program" ] || return 1; done
}

# Debian's sources, with lists of their own: those of the machine stay.
fetch() {
  local work=$1
  mkdir -p "$work/lists/partial" "$work/parts"
  cat /etc/apt/sources.list 2>/dev/null | sed -n 's/^deb \(\[.*\] \)\?/deb-src \1/p' >"$work/sources.list"
  if [ -e /etc/apt/sources.list.d/debian.sources ]; then
    sed 's/^Types: .*/Types: deb-src/' /etc/apt/sources.list.d/debian.sources >"$work/parts/debian.sources"
  fi
  local where=(-o "Dir::Etc::sourcelist=$work/sources.list" -o "Dir::Etc::sourceparts=$work/parts" -o "Dir::State::lists=$work/lists")
  apt-get "${where[@]}" update -qq
  (cd "$work" && apt-get "${where[@]}" source --download-only -qq kubernetes && dpkg-source --extract kubernetes_*.dsc source) >/dev/null
}

# The packages below a folder whose types the API describes, with a prefix for Go.
described() {
  (cd "$1" && grep -lR '+k8s:openapi-gen=' --include='*.go' . || true) | xargs -r -n 1 dirname | sort -u | sed "s,^\.,$2," |
    { grep -vE 'code-generator|sample-apiserver|kube-openapi|/generated' || true; } | tr '\n' ','
}

# openapi OUTPUT PACKAGES: what the server says of its API, which the source package does not have.
openapi() {
  "$work/openapi-gen" --go-header-file hack/boilerplate/boilerplate.generatego.txt -O zz_generated.openapi -r "$work/report" \
    -o "$GOPATH/src" -p "$1" -i "${2%,}"
}

build() {
  local kubernetes=k8s.io/kubernetes vendor=k8s.io/kubernetes/vendor/k8s.io machinery version staged part
  export GOPATH=$work/go GOCACHE=$work/cache GO111MODULE=off CGO_ENABLED=0 GOFLAGS=-p=$(scripts/jobs.sh)
  mkdir -p "$GOPATH/src/k8s.io" "$folder"
  ln -s "$work/source" "$GOPATH/src/$kubernetes"
  cd "$GOPATH/src/$kubernetes"
  # The one in vendor/ ends programs of newer versions of Go.
  rm -rf vendor/github.com/modern-go/reflect2
  cp -r /usr/share/gocode/src/github.com/modern-go/reflect2 vendor/github.com/modern-go/
  go build -o "$work/openapi-gen" ./vendor/k8s.io/kube-openapi/cmd/openapi-gen
  staged=$(cd vendor/k8s.io && for part in */; do described "$part" "$vendor/${part%/}"; done)
  openapi "$kubernetes/pkg/generated/openapi" "$staged$(described pkg "$kubernetes/pkg")$(described cmd "$kubernetes/cmd")"
  machinery=$vendor/apimachinery/pkg
  machinery=$machinery/apis/meta/v1,$machinery/runtime,$machinery/util/intstr,$machinery/version
  part=$vendor/kube-aggregator/pkg
  openapi "$part/generated/openapi" "$part/apis/apiregistration/v1,$part/apis/apiregistration/v1beta1,$vendor/api/core/v1,$machinery"
  part=$vendor/apiextensions-apiserver/pkg
  openapi "$part/generated/openapi" "$part/apis/apiextensions/v1,$part/apis/apiextensions/v1beta1,$vendor/api/autoscaling/v1,$machinery"
  version=$vendor/component-base/version
  go build -ldflags "-s -w -X $version.gitVersion=v1.20.2 -X $version.gitMajor=1 -X $version.gitMinor=20" -o "$work/bin/" \
    ./cmd/kube-apiserver ./cmd/kube-scheduler ./cmd/kube-controller-manager
  mv "$work"/bin/* "$folder/"
}

if is_built && command -v etcd >/dev/null; then exit 0; fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then skip "Kubernetes is not built, for which Debian's packages are needed ($needed)"; fi
# shellcheck disable=SC2086
apt-get install -y -qq --no-install-recommends $needed >/dev/null || skip "not all of $needed are there"
if is_built; then exit 0; fi
work=$(mktemp -d)
# Go makes what it has downloaded unwritable.
trap 'chmod -R u+w "$work" && rm -rf "$work"' EXIT
fetch "$work" || skip "Debian's source of Kubernetes is not to be had"
(build)
echo "Kubernetes is built: $folder"
