#!/bin/bash
# SPDX-License-Identifier: MIT
# scripts/bootstrap with a package system that is played: bootstrap.sh
set -u
cd "$(dirname "$0")/../.." || exit 1
bootstrap=$PWD/scripts/bootstrap
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin"
failed=0

test_that() {
    local name=$1
    shift
    rm -f "$scratch"/bin/* "$scratch/calls" "$scratch/updated"
    if "$@" >"$scratch/why" 2>&1; then
        echo "ok - bootstrap: $name"
    else
        echo "not ok - bootstrap: $name"
        sed 's/^/  /' "$scratch/why"
        failed=1
    fi
}

# played NAME SCRIPT: a command of the machine.
played() {
    printf '#!/bin/sh\n%s\n' "$2" >"$scratch/bin/$1"
    chmod +x "$scratch/bin/$1"
}

packages_installed() { played dpkg-query 'echo installed'; }
package_absent() { played dpkg-query "case \"\$*\" in *' $1') exit 1;; esac; echo installed"; }
user_is() { played id "echo $1"; }
apt_works() { played apt-get "echo \"\$*\" >>$scratch/calls"; }

run() {
    said=$(PATH="$scratch/bin:/usr/bin:/bin" "$bootstrap" "$@" 2>&1)
    status=$?
    echo "said: $said (status $status)"
    echo "apt-get: $(cat "$scratch/calls" 2>/dev/null)"
}

silent_when_all_is_there() {
    packages_installed && user_is 0 && apt_works && run build
    [ "$status" = 0 ] && [ -z "$said" ] && [ ! -e "$scratch/calls" ]
}

installs_what_is_absent() {
    package_absent libiberty-dev && user_is 0 && apt_works && run build
    [ "$status" = 0 ] && [ "$said" = "bootstrap: installing libiberty-dev " ] &&
        [ "$(cat "$scratch/calls")" = "install -y -q --no-install-recommends libiberty-dev" ]
}

updates_only_when_needed() {
    package_absent gdb && user_is 0
    played apt-get "echo \"\$1\" >>$scratch/calls
        case \$1 in update) touch $scratch/updated;; *) [ -e $scratch/updated ];; esac"
    run test
    [ "$status" = 0 ] && [ "$(xargs <"$scratch/calls")" = "install update install" ]
}

tells_when_not_root() {
    package_absent gdb && user_is 1000 && apt_works && played sudo 'exit 1' && run test
    [ "$status" = 1 ] && [ "$said" = "bootstrap: not root; run: apt-get install gdb " ] && [ ! -e "$scratch/calls" ]
}

asks_sudo() {
    package_absent gdb && user_is 1000 && apt_works && played sudo 'shift; exec "$@"' && run test
    [ "$status" = 0 ] && grep -q 'install.* gdb' "$scratch/calls"
}

tells_when_installing_fails() {
    package_absent gdb && user_is 0 && played apt-get 'exit 100' && run test
    [ "$status" = 1 ] && [[ $said == *"bootstrap: apt-get update failed" ]]
}

tells_when_not_debian() {
    ln -s /bin/sh "$scratch/bin/sh"
    said=$(PATH="$scratch/bin" /bin/sh "$bootstrap" build 2>&1)
    status=$?
    echo "said: $said (status $status)"
    [ "$status" = 1 ] && [[ $said == "bootstrap: this is not Debian; install what matches"*libprotobuf-c-dev* ]]
}

# npm_plays SCRIPT: a run that fetches npm's packages.
npm_plays() { played npm "$1" && run page "$scratch/page"; }

fetches_npm_packages() {
    npm_plays "pwd >>$scratch/calls; echo \"\$*\" >>$scratch/calls"
    [ "$status" = 0 ] && [ -z "$said" ] && [ -s "$scratch/page/package-lock.json" ] &&
        [ "$(head -n 1 "$scratch/calls")" = "$scratch/page" ] && grep -q '^ci .*--ignore-scripts' "$scratch/calls"
}

goes_on_without_npm_packages() {
    npm_plays 'exit 1'
    [ "$status" = 0 ] && [[ $said == *"could not fetch"*"no flame graph" ]] || return
    rm "$scratch/bin/npm"
    said=$(PATH="$scratch/bin" /bin/sh "$bootstrap" page "$scratch/page" 2>&1) || return
    [[ $said == *"npm is not there"*"no flame graph" ]]
}

refuses_other_words() {
    run everything
    [ "$status" = 1 ] && [[ $said == *"usage: scripts/bootstrap build|test|slow|fuzz|page" ]]
}

test_that "says nothing when all is there" silent_when_all_is_there
test_that "installs what is absent" installs_what_is_absent
test_that "updates the lists only when needed" updates_only_when_needed
test_that "tells what to run when it is not root" tells_when_not_root
test_that "asks sudo when it answers without a password" asks_sudo
test_that "tells when installing fails" tells_when_installing_fails
test_that "tells what is needed when this is not Debian" tells_when_not_debian
test_that "fetches npm packages" fetches_npm_packages
test_that "goes on without npm packages" goes_on_without_npm_packages
test_that "refuses other words" refuses_other_words

exit "$failed"
