#!/bin/sh
# Sees to it that Julia 1.5.3 is there, for the tests of bindings/julia. On Debian 12 it comes from the suite before (bullseye), which the mirror
# must still carry; what is there already is used. Exit status 1, and the reason, where it can't be had: the tests are then skipped.
#
# usage: julia.sh            (as root, or with sudo)
#
# Nothing is added to /etc/apt: a throw-away configuration of apt adds the suite at priority 100, so that only packages that this
# system lacks are taken from it; nothing is removed. JULIA_APT_SUITE and JULIA_APT_MIRROR name another suite or mirror.
#
# Julia 1.5 with bookworm's libunwind 1.6 crashes at every exception that passes code compiled at run time. The library that it was built
# with is put into Julia's own folder, which its loader looks into first; the system's stays as it is.
set -eu

suite=${JULIA_APT_SUITE:-bullseye}

lack() {
    printf 'Julia: %s; its tests are skipped.\n' "$1" >&2
    exit 1
}

# What breaks first on a mixed system: exceptions through compiled code, BLAS, calls of C.
works() {
    julia --startup-file=no -e '
        using LinearAlgebra
        f(x) = sqrt(x)
        caught = try f(-1.0) catch; -1.0 end
        exit(caught == -1.0 && [1.0 2; 3 4] * [1.0, 1] == [3.0, 7] && ccall(:strlen, Csize_t, (Cstring,), "abc") == 3 ? 0 : 1)' >/dev/null 2>&1
}

if command -v julia >/dev/null 2>&1 && works; then
    exit 0
fi
command -v apt-get >/dev/null 2>&1 || lack "there is no apt-get to install it with"
as_root=
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null 2>&1 || lack "this user may not install packages"
    as_root=sudo
fi
# What is there but does not work, of another version, is nobody's to repair.
if command -v julia >/dev/null 2>&1 && ! julia --version 2>/dev/null | grep -q ' 1\.5\.'; then
    lack "$(julia --version 2>&1 | head -n 1) does not pass its self-test"
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/sources.d" "$folder/lists/partial" "$folder/unwind"
chmod -R a+rX "$folder"
mirror=${JULIA_APT_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -v security |
    grep -E '/debian/?$' | sort -u | head -n 1)}
[ -n "$mirror" ] || lack "no mirror of Debian is configured"
[ ! -f /etc/apt/sources.list ] || cp /etc/apt/sources.list "$folder/sources.d/system.list"
for file in /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
    [ ! -f "$file" ] || cp "$file" "$folder/sources.d/"
done
cat >"$folder/sources.d/julia.sources" <<END
Types: deb
URIs: $mirror
Suites: $suite
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
END
cat >"$folder/preferences" <<END
Package: *
Pin: release n=$suite
Pin-Priority: 100
END
cat >"$folder/apt.conf" <<END
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$folder/sources.d";
Dir::Etc::preferences "$folder/preferences";
Dir::State::lists "$folder/lists";
Acquire::Languages "none";
Acquire::Check-Valid-Until "false";
Acquire::Retries "3";
APT::Sandbox::User "root";
DPkg::Lock::Timeout "500";
END
apt() { $as_root env APT_CONFIG="$folder/apt.conf" DEBIAN_FRONTEND=noninteractive apt-get -q "$@"; }

echo "Installing Julia 1.5.3 from $suite (once; about 60 megabytes)"
log=$folder/log
apt update >"$log" 2>&1 || { tail -n 5 "$log" >&2; lack "$mirror does not carry $suite"; }
plan=$(apt install -s --no-install-recommends julia 2>&1) || lack "$suite of $mirror has no package julia that fits this system"
printf '%s\n' "$plan" | grep '^Remv' >&2 && lack "apt would remove what is installed (above)"
apt install -y --no-install-recommends julia >"$log" 2>&1 || { tail -n 10 "$log" >&2; lack "the package could not be installed"; }
library=$(dpkg -L libjulia1 | grep '/libjulia\.so\.1$')
(cd "$folder/unwind" && apt download "libunwind8/$suite" >"$log" 2>&1 && dpkg -x libunwind8_*.deb .) || lack "libunwind8 of $suite could not be fetched"
$as_root install -m 644 "$(readlink -f "$folder"/unwind/usr/lib/*/libunwind.so.8)" "$(dirname "$library")/julia/libunwind.so.8"
works || lack "it was installed, but does not pass its self-test"
