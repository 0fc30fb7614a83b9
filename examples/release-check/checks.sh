# The checks of the release check. Sourced by agent.sh.
#
# Each prints one line: result, name, evidence, remedy, with tabs between them. Results: pass; note, warn or fail
# (small, middling, serious); skip (could not be run, with the reason). `base` and `from` say what the
# repository is compared with, `target` is the report that this very run writes.

said() { printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "${4:-}"; }

check_tree() {
    dirty=$(repo status --porcelain --untracked-files=all -- . ':(exclude).seriatim' ':(exclude).dialogue' \
        ":(exclude)$target")
    if [ -z "$dirty" ]; then
        said pass "Uncommitted work" "the working tree is clean"
    else
        said warn "Uncommitted work" "$(plural "$(lines "$dirty")" path) not committed: $(some "$dirty")" \
            "Commit or remove them, so that what was examined is what goes out."
    fi
}

check_conflicts() {
    found=$(repo grep -nIE '^(<{7}|>{7}|[|]{7})( |$)' HEAD -- . | sed 's/^HEAD://')
    if [ -z "$found" ]; then
        said pass "Conflict markers" "none in $(plural "$(tracked | grep -c '')" 'tracked file')"
    else
        said fail "Conflict markers" "$(some "$found")" "Finish the merge in these places."
    fi
}

check_whitespace() {
    found=$(repo diff --check "$from" HEAD | grep -E '^[^+].*:[0-9]+: ' | grep -v 'conflict marker')
    if [ -z "$found" ]; then
        said pass "Whitespace" "no trailing blanks in what changed"
    else
        said note "Whitespace" "$(plural "$(lines "$found")" place): $(some "$found")" \
            "Strip them, or tell git in .gitattributes that they belong there."
    fi
}

check_leftovers() {
    # Brackets in the words keep this line from finding itself.
    found=$(repo grep -nIE '(TOD[O]|FIXM[E]|XX[X]|HAC[K])(:|\()' HEAD -- . | sed 's/^HEAD://')
    if [ -z "$found" ]; then
        said pass "Notes to self" "no notes of unfinished work in tracked files"
        return
    fi
    urgent=$(printf '%s\n' "$found" | grep -E 'FIXM[E]|XX[X]')
    if [ -n "$urgent" ]; then
        said warn "Notes to self" \
            "$(plural "$(lines "$found")" note), $(lines "$urgent") of them urgent: $(some "$urgent")" \
            "Settle the urgent ones, or write down why they can wait."
    else
        said note "Notes to self" "$(plural "$(lines "$found")" note): $(some "$found")" \
            "Decide which of them may go out."
    fi
}

check_licence() {
    found=$(tracked | grep -iE '^(LICEN[SC]E|COPYING|UNLICENSE)([-.][^/]*)?$')
    if [ -n "$found" ]; then
        said pass "Licence" "$(some "$found")"
    else
        said fail "Licence" "no licence file at the top level" "Add one: without it nobody may use the release."
    fi
}

check_readme() {
    found=$(tracked | grep -iE '^README([.][^/]*)?$' | sed -n 1p)
    if [ -n "$found" ] && [ -s "$found" ]; then
        said pass "Read-me" "$found, $(plural "$(grep -c '' "$found")" line)"
    else
        said warn "Read-me" "none at the top level, or an empty one" "Say what it is for and how to start."
    fi
}

# The version that the project gives itself; empty when it does not say.
version() {
    if [ -f Cargo.toml ]; then
        awk '/^\[/ { mine = ($0 ~ /^\[(workspace[.])?package\]/) }
             mine && /^version *= *"/ { split($0, part, "\""); print part[2]; exit }' Cargo.toml
    elif [ -f package.json ]; then
        awk -F'"' '$2 == "version" { print $4; exit }' package.json
    elif [ -f pyproject.toml ]; then
        awk -F'"' '/^version *= *"/ { print $2; exit }' pyproject.toml
    fi
}

check_changelog() {
    log=$(tracked | grep -iE '^(CHANGELOG|CHANGES|HISTORY|NEWS)([.][^/]*)?$' | sed -n 1p)
    if [ -z "$log" ]; then
        said warn "Change log" "there is none" "Start one, so that users learn what a new version brings."
        return
    fi
    entries=$(awk -v version="$(version)" '
        /^##? / {
            inside = tolower($0) ~ /unreleased/ || (version != "" && index($0, version))
            if (inside) seen = 1
            next
        }
        inside && /^ *[-*] / { count++ }
        END { print seen ? count + 0 : "none" }' "$log")
    case $entries in
    none) said warn "Change log" "$log has no section for what is unreleased" \
        "Add one, with an entry for each change that a user can notice." ;;
    0) said warn "Change log" "the unreleased section of $log is empty" \
        "Write an entry for each change that a user can notice." ;;
    *) said pass "Change log" "$log, $(plural "$entries" entry entries) not yet released" ;;
    esac
}

check_version() {
    version=$(version)
    if [ -z "$version" ]; then
        said skip "Version" "no manifest names one"
    elif [ -n "$base" ] && [ "${base#v}" = "$version" ]; then
        said warn "Version" "still $version, and $base is out already" "Raise it: two releases cannot share a number."
    elif [ -n "$base" ]; then
        said pass "Version" "$version, after $base"
    else
        said pass "Version" "$version, the first release"
    fi
}

check_lock() {
    if [ -f Cargo.toml ]; then
        if ! command -v cargo >/dev/null 2>&1; then
            said skip "Locked dependencies" "cargo is not installed here"
            return
        fi
        # Only what this machine would build is looked at: crates for other systems need not be there offline.
        if trouble=$(CARGO_TERM_COLOR=never cargo tree --locked --offline --workspace \
            -e normal,build --depth 0 2>&1); then
            said pass "Locked dependencies" "Cargo.lock agrees with the manifests"
            return
        fi
        cause=$(printf '%s\n' "$trouble" | sed -n 's/^error: //p')
        case $trouble in
        *"--locked was passed"*) said fail "Locked dependencies" "Cargo.lock does not agree with the manifests" \
            "Run cargo check and commit Cargo.lock." ;;
        *offline* | *rustup* | *toolchain*) said skip "Locked dependencies" \
            "not to be told here: $(some "$cause" 1)" ;;
        *) said fail "Locked dependencies" "a manifest cannot be read: $(some "$cause" 1)" "Mend the manifest." ;;
        esac
    elif [ -f package.json ]; then
        found=$(tracked |
            grep -E '^(package-lock[.]json|npm-shrinkwrap[.]json|yarn[.]lock|pnpm-lock[.]yaml|bun[.]lockb?)$')
        if [ -n "$found" ]; then
            said pass "Locked dependencies" "$(some "$found")"
        else
            said warn "Locked dependencies" "no lock file is tracked" "Commit the lock file."
        fi
    else
        said skip "Locked dependencies" "no manifest that this check knows"
    fi
}

check_size() {
    found=$(repo ls-tree -r -l HEAD | awk -F'\t' '
        { split($1, part, " +"); size = part[4] + 0 }
        size >= 1048576 { printf "%d\t%s (%.1f MiB)\n", size, $2, size / 1048576 }' | sort -nr)
    if [ -z "$found" ]; then
        said pass "Big files" "no tracked file reaches 1 MiB"
    else
        worst=${found%%"$tab"*}
        named=$(printf '%s\n' "$found" | sed "s/^[0-9]*$tab//")
        if [ "$worst" -ge 20971520 ]; then result=fail; else result=warn; fi
        said "$result" "Big files" "$(plural "$(lines "$found")" file): $(some "$named")" \
            "Keep them out of the repository; they stay in its history for good."
    fi
}

check_private() {
    found=$(tracked |
        grep -E '(^|/)([.]env([.][^/]*)?|id_(rsa|dsa|ecdsa|ed25519)|[.]netrc|[.]htpasswd|[^/]*[.](pem|p12|pfx|jks))$' |
        grep -vE '[.](example|sample|template|dist)$')
    if [ -z "$found" ]; then
        said pass "Private files" "no keys or environment files are tracked"
    else
        said fail "Private files" "$(some "$found")" "Remove them, and replace whatever secret they held."
    fi
}

check_names() {
    found=$(tracked | awk '{ key = tolower($0); if (key in seen) print seen[key] " and " $0; else seen[key] = $0 }')
    if [ -z "$found" ]; then
        said pass "Names that differ in case alone" "no two tracked paths collide"
    else
        said warn "Names that differ in case alone" "$(some "$found")" \
            "Rename one: they are the same file on many machines."
    fi
}

check_links() {
    links=$(repo grep -nIoE '\]\([^][()<>#[:blank:]]+' HEAD -- '*.md' | sed -e 's/^HEAD://' -e 's/](//')
    found=$(printf '%s\n' "$links" | while IFS=: read -r file line link; do
        case $link in "" | [a-z]*:*) continue ;; esac
        case $link in
        /*) path=.$link ;;
        *) case $file in */*) path=${file%/*}/$link ;; *) path=$link ;; esac ;;
        esac
        [ -e "$path" ] || printf '%s:%s leads to %s\n' "$file" "$line" "$link"
    done)
    if [ -z "$found" ]; then
        said pass "Links in the documents" "$(plural "$(lines "$links")" 'local link'), each leads to a file"
    else
        said warn "Links in the documents" "$(plural "$(lines "$found")" 'dead link'): $(some "$found")" \
            "Mend or remove them."
    fi
}

# The commands that the person gave as the input `checks`, one to a line.
check_own() {
    given /inputs/inputs/checks | while IFS= read -r line; do
        [ -n "$line" ] || continue
        output=$(sh -c "$line" </dev/null 2>&1)
        code=$?
        last=$(printf '%s\n' "$output" | grep -v '^[[:blank:]]*$' | sed -n '$p')
        if [ "$code" -eq 0 ]; then
            said pass "$(some "$line" 1)" "exit 0${last:+; $(some "$last" 1)}"
        else
            said fail "$(some "$line" 1)" "exit $code${last:+; $(some "$last" 1)}" \
                "Run it again by hand and mend what it reports."
        fi
    done
}

all_checks() {
    check_tree
    check_conflicts
    check_licence
    check_readme
    check_changelog
    check_version
    check_lock
    check_private
    check_size
    check_names
    check_links
    check_leftovers
    check_whitespace
    check_own
}
