#!/bin/sh
# An orchestrator that breaks one promise: `sh broken_orchestrator.sh MODE PROGRAM WORDS...` calls PROGRAM, which keeps
# them all, and spoils what MODE says. It is started in a workspace of the conformance suite; the agent lies beside that.
mode=$1 program=$2
shift 2
verb=$1

# agent ROLE: calls the agent of a role behind the orchestrator's back.
agent() {
    SERIATIM_STEP=$1 SERIATIM_BRIEF=/dev/null SERIATIM_REPORT=/dev/null sh ../agent.sh </dev/null
}

# between SCRIPT: puts a script between the orchestrator and the agent, which is `agent.sh` in the same folder.
between() {
    printf 'here=$(dirname "$0")\n%s\n' "$1" >../between.sh
    cp seriatim.toml ../seriatim.toml
    sed 's,/agent\.sh",/between.sh",' ../seriatim.toml >seriatim.toml
}

# edit SCRIPT FILE...: changes files with sed.
edit() {
    script=$1
    shift
    for file; do sed "$script" "$file" >../edited && cat ../edited >"$file"; done
}

# spoil SCRIPT: changes what it said with sed.
spoil() { said=$(printf '%s\n' "$said" | sed "$1"); }

# What is done before the program is called.
case $mode in
all-transient)
    between 'sh "$here/agent.sh"
        sed "s/\"permanent\"/\"transient\"/" "$SERIATIM_REPORT" >"$here/report" && cat "$here/report" >"$SERIATIM_REPORT"'
    ;;
no-pauses)
    between 'for try in 1 2 3; do sh "$here/agent.sh" </dev/null; done
        sed "s/\"transient\"/\"permanent\"/" "$SERIATIM_REPORT" >"$here/report" && cat "$here/report" >"$SERIATIM_REPORT"'
    ;;
forgetful)
    between '[ -f "$here/brief" ] || { cp "$SERIATIM_BRIEF" "$here/brief"; cat >"$here/prompt"; }
        SERIATIM_BRIEF=$here/brief sh "$here/agent.sh" <"$here/prompt"'
    ;;
no-snapshot)
    between 'mv "$here/work/.snapshots" "$here/hidden"; sh "$here/agent.sh"; mv "$here/hidden" "$here/work/.snapshots"'
    ;;
guesses-intent) case $3 in *" or "*) shift 3; set -- run action build "$@" ;; esac ;;
guesses-input) [ "$verb" = run ] && echo guessed >planning-mds/BLUEPRINT.md ;;
old-guides)
    [ -d ../guides ] || cp -R agents ../guides
    cp -R ../guides/. agents
    ;;
takes-back) [ "$verb" = resume ] && mv ../guide.md engine/guide.md ;;
silent) exit 0 ;;
dies) kill -9 $$ ;;
esac

said=$("$program" "$@")
code=$?
[ -f ../seriatim.toml ] && cp ../seriatim.toml seriatim.toml

# What is done afterwards.
case $mode in
everyone-again) [ "$verb" = resume ] && agent writer ;;
takes-anything) [ "$verb" = answer ] && code=0 ;;
half-a-rollback) [ "$verb" = resume ] && chmod 600 engine/tool.sh ;;
names-no-files) edit 's/"impacted_artifacts"/"concerned"/' logs/errors/*.json ;;
no-way-out) spoil 's/"id":"cancel"/"id":"leave"/g' ;;
gives-up) code=1 said='{"run": "x", "questions": []}' ;;
no-logs) rm -rf logs ;;
all-is-well) code=0 said='{"run": "x", "questions": []}' ;;
once-more) agent writer ;;
hangs) sleep 1000 ;;
takes-back) [ "$verb" = run ] && mv engine/guide.md ../guide.md ;;
ships-anyway) [ "$verb" = run ] && agent shipper ;;
no-consequences) spoil 's/"description":"[^"]*"/"description":""/g' ;;
writes-elsewhere) mkdir -p agents/notes && echo more >agents/notes/customer.md ;;
forgets-a-gate) edit '/^## tracker/,/^- Rationale/d' planning-mds/operations/evidence/*/gate-decisions.md ;;
shows-no-files) spoil 's,engine/first\.md,a file,g' ;;
esac
printf '%s\n' "$said"
exit "$code"
