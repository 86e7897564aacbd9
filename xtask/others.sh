#!/bin/sh
# Fetches the tools that `make bench BENCH='--others'` compares with: ADOL-C, a package of Debian; CppAD and JAX, at the versions of
# tests/bench/others/requirements.txt, into a folder of their own under target/. What is there already is used; what can't be had is said
# in a line and left out of the table. The exit status is 0 in either case.
#
# usage: others.sh            (from the project's root; ADOL-C as root, or with sudo)
#
# With LLVM_CONFIG or LLVM_SYS_221_PREFIX set no package is installed, as in setup.sh.
set -u

target=${CARGO_TARGET_DIR:-target}/others
requirements=tests/bench/others/requirements.txt

lack() { printf '%s; the comparison goes without.\n' "$*" >&2; }

has() { command -v "$1" >/dev/null 2>&1; }

adolc() {
    if [ -e /usr/include/adolc/adolc.h ] || [ -e /usr/local/include/adolc/adolc.h ]; then return; fi
    if [ -n "${LLVM_CONFIG:-}${LLVM_SYS_221_PREFIX:-}" ]; then
        lack "ADOL-C: nothing is installed beside an LLVM that you name"
        return
    fi
    if ! has apt-get; then
        lack "ADOL-C: there is no apt-get to install libadolc-dev with"
        return
    fi
    as_root=
    [ "$(id -u)" = 0 ] || as_root=sudo
    install="apt-get install -y --no-install-recommends -q -o DPkg::Lock::Timeout=500 libadolc-dev"
    echo "Installing libadolc-dev (once)"
    # shellcheck disable=SC2086 # lists of words
    $as_root env DEBIAN_FRONTEND=noninteractive $install >/dev/null 2>&1 || lack "ADOL-C: $install failed"
}

python() {
    if cmp -s "$requirements" "$target/requirements.txt"; then return; fi
    if ! has python3; then
        lack "CppAD, JAX: there is no python3"
        return
    fi
    echo "Fetching CppAD and JAX into $target (once; about 200 megabytes)"
    rm -rf "$target"
    mkdir -p "$target"
    if ! python3 -m venv "$target" >"$target.log" 2>&1; then
        lack "CppAD, JAX: python3 -m venv failed (package python3-venv)"
        return
    fi
    # Wheels alone: nothing is compiled. Each line alone, so that one that can't be had keeps nothing else out.
    missing=
    for package in $(grep -v '^#' "$requirements"); do
        "$target/bin/python" -m pip install -q --no-deps --only-binary :all: "$package" >>"$target.log" 2>&1 || missing="$missing $package"
    done
    if [ -n "$missing" ]; then
        lack "Not to be had by pip ($target.log says why):$missing"
        return
    fi
    cp "$requirements" "$target/requirements.txt"
}

adolc
python
exit 0
