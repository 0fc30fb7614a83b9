#!/bin/sh
# The agent of the release check: examines a git repository before a release.
#
# It speaks the protocol of a `command` agent (docs/guide/agents.md): the brief is a JSON file named by
# SERIATIM_BRIEF, the report goes to SERIATIM_REPORT, and SERIATIM_STEP says which step is to be done. It needs
# nothing but sh, git, awk, sed and grep, reads the repository, reaches no network, and writes two files: its
# own report to the engine and, in the last step, the report for people. The parts beside it: json.sh (the
# protocol), checks.sh (what is examined), paper.sh (the report for people).

set -u
# Bytes, not characters: the same result on every machine, whatever its language.
LC_ALL=C
export LC_ALL
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
tab=$(printf '\t')

# Reading must not write: no index refresh, no hooks, no monitor, no pager, no colours.
repo() {
    git --no-pager --no-optional-locks -c core.hooksPath=/dev/null -c core.fsmonitor=false \
        -c core.quotePath=false -c color.ui=false -c log.showSignature=false "$@"
}

here=${0%/*}
. "$here/json.sh"
. "$here/checks.sh"
. "$here/paper.sh"

# The repository and what it is compared with.

# Sets base (a tag, or empty: no release yet), range and from (the tree to compare with).
find_base() {
    base=$(given /inputs/inputs/since)
    if [ -n "$base" ]; then
        repo rev-parse --verify --quiet "$base^{commit}" >/dev/null ||
            give_up "There is no commit or tag named $base."
    else
        base=$(repo describe --tags --abbrev=0 HEAD 2>/dev/null)
        # A tag on the very commit is this release itself: compare with the one before it.
        if [ -n "$base" ] && [ "$(repo rev-parse "$base^{commit}")" = "$(repo rev-parse HEAD)" ]; then
            base=$(repo describe --tags --abbrev=0 HEAD^ 2>/dev/null)
        fi
    fi
    if [ -n "$base" ]; then
        range="$base..HEAD"
        from=$base
    else
        range=HEAD
        from=$(repo hash-object -t tree /dev/null)
    fi
}

tracked() { repo ls-files; }

lines() { if [ -n "$1" ]; then printf '%s\n' "$1" | grep -c ''; else echo 0; fi; }

# The first few lines of $1 in one line, and how many more there are.
some() {
    printf '%s\n' "$1" | awk -v most="${2:-3}" '
        { gsub(/[\t\r]/, " ") }
        NR <= most { out = out (NR > 1 ? "; " : "") (length($0) > 90 ? substr($0, 1, 87) "..." : $0) }
        END { if (NR > most) out = out "; and " NR - most " more"; print out }'
}

plural() { if [ "$1" -eq 1 ]; then echo "$1 $2"; else echo "$1 ${3:-$2s}"; fi; }

# Tables have tabs between their cells here; in outputs, which people read too, two blanks.
columns() { sed -e 's/  */ /g' -e "s/$tab*\$//" -e "s/ *$tab */  /g"; }
cells() { sed "s/   */$tab/g"; }

# Step: gather what changed.

gather() {
    commits=$(repo rev-list --count "$range")
    authors=$(repo log --no-merges --format=%aN "$range" | sort -u | grep -c '')
    numbers=$(repo diff --numstat --no-renames "$from" HEAD)
    files=$(lines "$numbers")
    totals=$(printf '%s\n' "$numbers" | awk '{ a += $1; d += $2 } END { print a + 0, d + 0 }')
    areas=$(printf '%s\n' "$numbers" | awk -F'\t' '
        NF == 3 {
            parts = split($3, part, "/")
            area = parts == 1 ? "(top level)" : parts == 2 ? part[1] : part[1] "/" part[2]
            files[area]++; added[area] += $1; deleted[area] += $2
        }
        END { for (area in files) print area "\t" files[area] "\t" added[area] + 0 "\t" deleted[area] + 0 }' |
        sort -t "$tab" -k3,3nr -k1,1 | sed -n '1,10p' |
        awk -F'\t' '{ print $1 "\t" $2 ($2 == 1 ? " file" : " files") "\t+" $3 "\t-" $4 }')
    newest=$(repo log --no-merges --encoding=UTF-8 --format=%s "$range" | sed -n '1,5p')
    since=${base:-the first commit}
    summary="$(plural "$commits" commit) by $(plural "$authors" person people) since $since"
    summary="$summary, touching $(plural "$files" file)."
    report done "$summary" "$(
        member since "$since"
        printf ', '; member commit "$(repo rev-parse --short HEAD)"
        printf ', '; member date "$(repo log -1 --date=short --format=%cd)"
        printf ', '; member branch "$(repo symbolic-ref --short --quiet HEAD || echo 'no branch')"
        printf ', "commits": %d, "authors": %d, "files": %d, "added": %d, "deleted": %d, ' \
            "$commits" "$authors" "$files" "${totals% *}" "${totals#* }"
        member newest "$newest"
        printf ', '; member areas "$(printf '%s\n' "$areas" | columns)"
    )" "$(measured "Commits since $since" "$commits")"
}

# Step: run the checks.

of_result() { printf '%s\n' "$results" | grep -c "^$1$tab"; }

run_checks() {
    results=$(all_checks)
    passed=$(of_result pass)
    skipped=$(of_result skip)
    total=$(lines "$results")
    summary="$passed of $(plural "$total" check) passed"
    [ "$skipped" -eq 0 ] || summary="$summary, $skipped could not be run"
    poor=$(printf '%s\n' "$results" | awk -F'\t' '$1 != "pass" && $1 != "skip" { print $2 }')
    [ -z "$poor" ] || summary="$summary; to look at: $(some "$poor" 5)"
    # A serious finding fails the step; what weighs less is for the owner to decide.
    if [ "$(of_result fail)" -eq 0 ]; then verdict=PASS; else verdict=FAIL; fi
    report done "$summary." "$(
        printf '"total": %d, "passed": %d, "skipped": %d, ' "$total" "$passed" "$skipped"
        member checks "$(printf '%s\n' "$results" | columns)"
    )" "$(measured "Checks passed" "$passed of $total"), \"verdict\": \"$verdict\""
}

# Step: weigh the findings.

# What the size and the place of the change say, beyond what the checks found.
weigh_change() {
    [ -n "$base" ] || return 0
    names=$(repo diff --name-only --no-renames "$from" HEAD)
    code=$(printf '%s\n' "$names" | grep -cE '[.](rs|go|c|h|cc|cpp|py|js|ts|tsx|java|kt|rb|swift|cs|sh)$')
    tests=$(printf '%s\n' "$names" | grep -ciE '(^|/)(tests?|spec|__tests__)(/|$)|[._-](test|spec)[.]')
    if [ "$code" -gt 0 ] && [ "$tests" -eq 0 ]; then
        printf 'medium\tTests\t%s changed, and no test file among them\tAdd a test, or say why none is needed.\n' \
            "$(plural "$code" 'source file')"
    fi
    places=$(printf '%s\n' "$names" |
        grep -E '(^|/)(migrations?|Dockerfile|[.]github|[.]ci|[.]gitlab-ci[.]yml)(/|$)|[.]sql$')
    if [ -n "$places" ]; then
        printf 'low\tDelicate places\t%s: %s\tLet a second person read these.\n' \
            "$(plural "$(lines "$places")" file)" "$(some "$places")"
    fi
    amount=$(repo diff --numstat --no-renames "$from" HEAD | awk '{ n += $1 + $2 } END { print n + 0 }')
    if [ "$amount" -gt 5000 ]; then
        printf 'low\tSize\t%s lines changed since %s\tA smaller release is easier to take back.\n' "$amount" "$base"
    fi
}

count_of() { printf '%s\n' "$findings" | grep -c "^$1$tab"; }

first_of() { printf '%s\n' "$findings" | awk -F'\t' -v want="$1" '$1 == want { print $2 ": " $3; exit }'; }

weigh() {
    results=$(given /inputs/steps/7.1.2/checks | cells)
    [ -n "$results" ] || results=$(all_checks)
    found=$(
        printf '%s\n' "$results" | awk -F'\t' '
            BEGIN { weight["fail"] = "high"; weight["warn"] = "medium"; weight["note"] = "low" }
            $1 in weight { print weight[$1] "\t" $2 "\t" $3 "\t" $4 }'
        weigh_change
    )
    findings=$(for weight in high medium low; do printf '%s\n' "$found" | grep "^$weight$tab"; done)
    high=$(count_of high)
    medium=$(count_of medium)
    low=$(count_of low)
    if [ "$high" -gt 0 ]; then
        advice=hold
        reason="Something serious stands against it: $(first_of high)."
    elif [ "$medium" -gt 0 ]; then
        advice=changes
        reason="Nothing serious, but $(plural "$medium" matter) should be settled first, above all: $(first_of medium)."
    else
        advice=release
        reason="Nothing that was examined stands against it."
    fi
    case $advice in
    hold) words="I would hold the release." ;;
    changes) words="I would ask for changes first." ;;
    release) words="I would release it." ;;
    esac
    report done "$words $reason $(plural "$high" 'serious finding'), $medium middling, $low small." "$(
        member recommendation "$advice"
        printf ', '; member reason "$reason"
        printf ', "high": %d, "medium": %d, "low": %d' "$high" "$medium" "$low"
        [ -z "$findings" ] || { printf ', '; member findings "$(printf '%s\n' "$findings" | columns)"; }
    )"
}

# Step: write the report for people.

write_up() {
    one=/inputs/steps/7.1.1
    three=/inputs/steps/7.1.3
    results=$(given /inputs/steps/7.1.2/checks | cells)
    findings=$(given $three/findings | cells)
    advice=$(given $three/recommendation)
    decided
    case $target in
    */*) mkdir -p "${target%/*}" || give_up "The directory for $target cannot be made." ;;
    esac
    document >"$target" || give_up "$target cannot be written."
    report done "Verdict: $verdict. The report is in $target." "$(
        member verdict "$verdict"
        printf ', '; member report "$target"
        printf ', '; member decided_by "$by"
    )" "\"artifacts\": [$(printf '%s' "$target" | json_string)]"
}

# The work.

: "${SERIATIM_BRIEF:?start this through seriatim: see docs/guide/agents.md}"
: "${SERIATIM_REPORT:?start this through seriatim: see docs/guide/agents.md}"
: "${SERIATIM_STEP:?start this through seriatim: see docs/guide/agents.md}"
SERIATIM_RUN=${SERIATIM_RUN:-RUN}

brief=$(flatten "$SERIATIM_BRIEF") || give_up "The brief cannot be read."
target=$(given /inputs/inputs/report)
target=${target:-reports/release-report.md}
case /$target/ in
//* | */../*) give_up "The report must lie inside the workspace, and $target does not." ;;
esac
command -v git >/dev/null 2>&1 || give_up "The program git is not installed here."
repo rev-parse --is-inside-work-tree >/dev/null 2>&1 || give_up "This directory is not a git repository."
repo rev-parse --verify --quiet HEAD >/dev/null || give_up "There is no commit yet, so there is nothing to release."
find_base

case $SERIATIM_STEP in
7.1.1) gather ;;
7.1.2) run_checks ;;
7.1.3) weigh ;;
7.1.5) write_up ;;
*) give_up "This agent does not know the step $SERIATIM_STEP." ;;
esac
