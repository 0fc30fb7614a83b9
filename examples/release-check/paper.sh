# The report for people, in Markdown. Sourced by agent.sh.
#
# It is made from what the earlier steps put on record. Only the list of commits is read from the repository, and
# that between the two commits on record, so that it cannot have changed meanwhile.

# The name that the project gives itself: the first heading of its read-me, else the directory's name.
project() {
    readme=$(tracked | grep -iE '^README[.]md$' | sed -n 1p)
    title=''
    [ -z "$readme" ] || title=$(sed -n 's/^# *//p' "$readme" | sed -n 1p)
    printf '%s\n' "${title:-${PWD##*/}}"
}

changes_by_kind() {
    since=$(given $one/since)
    commit=$(given $one/commit)
    case $since in
    'the first commit') span=$commit ;;
    *) span=$since..$commit ;;
    esac
    repo log --no-merges --encoding=UTF-8 --format='%h%x09%s' "$span" | sed -n '1,200p' | awk -F'\t' '
        function among(words) { return index(" " words " ", " " word " ") }
        # By the first word of a subject, in the form `fix(scope): ...` or in plain words.
        function kind(subject) {
            word = tolower(subject)
            sub(/[^a-z].*/, "", word)
            if (among("feat feature add adds added introduce implement support create lay build write")) return 1
            if (among("fix fixes fixed correct repair mend hotfix bugfix")) return 2
            if (among("remove removes removed drop delete revert")) return 3
            if (among("perf speed optimise optimize")) return 4
            if (among("doc docs document describe readme")) return 5
            if (among("test tests prove")) return 6
            if (among("refactor rename move tidy clean simplify style chore ci bump update upgrade release")) return 7
            return 8
        }
        BEGIN { split("New|Mended|Removed|Faster|Documents|Tests|Upkeep|Other", title, "|") }
        NF { k = kind($2); list[k] = list[k] "- " $2 " (`" $1 "`)\n" }
        END { for (k = 1; k <= 8; k++) if (k in list) printf "**%s**\n\n%s\n", title[k], list[k] }'
}

# Lines with tabs between the cells, as the rows of a table.
rows() {
    awk -F'\t' '{
        gsub(/\|/, "\\&#124;")
        out = "|"
        for (i = 1; i <= NF; i++) out = out " " $i " |"
        print out
    }'
}

findings_of() {
    printf '%s\n' "$findings" | awk -F'\t' -v want="$1" -v title="$2" '
        $1 != want { next }
        !count++ { printf "### %s\n\n", title }
        { sub(/[.]$/, "", $3); printf "- **%s**: %s. %s\n", $2, $3, $4 }
        END { if (count) print "" }'
}

# The person's decision in words, and whether it follows the recommendation.
decided() {
    choice=$(given /inputs/answers/7.1.4/choice)
    text=$(given /inputs/answers/7.1.4/text)
    by=$(given /inputs/answers/7.1.4/by)
    case $choice in
    approve | release | yes | done | complete) taken=release verdict="Release" ;;
    changes | fix | retry | rework | guide | provide_input) taken=changes verdict="Changes first" ;;
    hold | reject | cancel | stop | skip | no) taken=hold verdict="Hold" ;;
    '') taken='' verdict="Undecided" ;;
    *) taken=$choice verdict=$choice ;;
    esac
}

document() {
    printf '# Release report: %s\n\n' "$(project)"
    printf '**%s.** ' "$verdict"
    if [ -n "$taken" ]; then
        if [ -n "$text" ]; then ending=', who says:'; else ending=.; fi
        printf 'Decided by %s%s\n' "${by:-a person}" "$ending"
        [ -z "$text" ] || printf '%s\n' "$text" | sed 's/^/> /' | { echo; cat; }
    else
        printf 'No decision is on record.\n'
    fi
    printf '\nThe examination recommended to **%s**. %s' "$(advice_words "$advice")" "$(given $three/reason)"
    [ -z "$taken" ] || [ "$taken" = "$advice" ] || printf ' The decision differs from that.'
    printf '\n\n## At a glance\n\n| | |\n|---|---|\n'
    {
        printf 'Commit\t`%s` of %s, on %s\n' "$(given $one/commit)" "$(given $one/date)" "$(given $one/branch)"
        printf 'Since\t%s\n' "$(given $one/since)"
        printf 'Size\t%s by %s, %s files, %s lines added, %s deleted\n' "$(plural "$(given $one/commits)" commit)" \
            "$(plural "$(given $one/authors)" person people)" "$(given $one/files)" \
            "$(given $one/added)" "$(given $one/deleted)"
        printf 'Checks\t%s of %s passed, %s could not be run\n' \
            "$(of_result pass)" "$(lines "$results")" "$(of_result skip)"
        printf 'Findings\t%s serious, %s middling, %s small\n' \
            "$(given $three/high)" "$(given $three/medium)" "$(given $three/low)"
    } | rows
    printf '\n## Findings, by weight\n\n'
    if [ -n "$findings" ]; then
        findings_of high "Serious"
        findings_of medium "Middling"
        findings_of low "Small"
    else
        printf 'None.\n\n'
    fi
    printf '## Checks\n\n| Result | Check | Evidence |\n|---|---|---|\n'
    printf '%s\n' "$results" | awk -F'\t' '{ print $1 "\t" $2 "\t" $3 }' | rows
    printf '\n## What changed\n\n| Area | Files | Added | Deleted |\n|---|---:|---:|---:|\n'
    given $one/areas | cells | rows
    printf '\n'
    changes_by_kind
    commits=$(given $one/commits)
    [ "${commits:-0}" -le 200 ] || printf 'Of %s commits the newest 200 are listed.\n\n' "$commits"
    printf -- '---\n\nThe record of this examination: `seriatim show %s`.\n' "$SERIATIM_RUN"
}

advice_words() {
    case $1 in
    hold) echo "hold the release" ;;
    changes) echo "ask for changes first" ;;
    *) echo "release it" ;;
    esac
}
