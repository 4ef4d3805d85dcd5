# shellcheck shell=bash
# Installs tools from the system's packages, for scripts that need a tool which may be missing.
# Sourced, never run.

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

die() {
	say "$*"
	exit 1
}

# as_root CMD… runs CMD as root, and fails if this user cannot become root. sudo asks for a password
# only on a terminal.
as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif ! command -v sudo >/dev/null 2>&1; then
		say "not root, and sudo is not installed"
		return 1
	elif [ -z "${CI:-}" ] && { : </dev/tty; } 2>/dev/null; then
		sudo "$@"
	else
		sudo -n "$@"
	fi
}

# package_manager prints the name of the system's package manager.
package_manager() {
	local manager
	for manager in apt-get dnf yum apk zypper pacman brew; do
		if command -v "$manager" >/dev/null 2>&1; then
			echo "$manager"
			return
		fi
	done
	return 1
}

# install_packages MANAGER:PACKAGE… installs the packages for the system's package manager; yum uses
# dnf's packages. It fails if there is no package manager, if no package is named for it, or if the
# installation fails.
install_packages() {
	local manager family arg
	local -a packages=()
	if ! manager=$(package_manager); then
		say "no package manager found"
		return 1
	fi
	case $manager in
	apt-get) family=apt ;;
	yum) family=dnf ;;
	*) family=$manager ;;
	esac
	for arg in "$@"; do
		if [ "${arg%%:*}" = "$family" ]; then packages+=("${arg#*:}"); fi
	done
	if [ "${#packages[@]}" -eq 0 ]; then
		say "no package known for $manager"
		return 1
	fi
	say "installing ${packages[*]} with $manager"
	# stdin is closed for all of them: a question must fail, not hang. Their output goes to stderr,
	# so that it does not mix with the output of the caller's command.
	run_manager "$manager" "${packages[@]}" </dev/null >&2
}

run_manager() {
	local manager=$1
	shift
	case $manager in
	apt-get)
		# One unreachable third-party source fails the update; the package may still be
		# available.
		apt_get update -q || say "apt-get update failed; continuing with the existing lists"
		apt_get install -q -y --no-install-recommends "$@"
		;;
	dnf | yum) as_root "$manager" install -y "$@" ;;
	apk) as_root apk add --no-cache "$@" ;;
	zypper) as_root zypper --non-interactive install "$@" ;;
	pacman) as_root pacman -Sy --noconfirm --needed "$@" ;;
	brew) HOMEBREW_NO_AUTO_UPDATE=1 brew install "$@" ;; # refuses to run as root
	esac
}

# apt_get waits for another apt-get's lock: a fresh machine often updates itself in its first
# minutes.
apt_get() { as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 "$@"; }
