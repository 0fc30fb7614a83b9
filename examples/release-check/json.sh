# JSON for sh agents: enough of it to read a brief and to write a report. Sourced by agent.sh.
#
# `brief` holds the brief as lines of path and text, see flatten; `given PATH` reads one of them.

# Turns JSON into lines `/path/to/value<TAB>text`. Line breaks and tabs within a text become \001 and \002.
flatten() {
    awk '
    function blank() { while (index(" \t\r\n", substr(s, p, 1)) && p <= n) p++ }
    function digit(c) { return index("0123456789abcdef", tolower(c)) - 1 }
    function escaped(c,    code, i) {
        if (c == "n") return "\001"
        if (c == "t") return "\002"
        if (c == "r" || c == "b" || c == "f") return ""
        if (c != "u") return c
        code = 0
        for (i = 0; i < 4; i++) code = code * 16 + digit(substr(s, p + i, 1))
        p += 4
        if (code < 32) return ""
        if (code < 128) return sprintf("%c", code)
        if (code < 2048) return sprintf("%c%c", 192 + int(code / 64), 128 + code % 64)
        if (code >= 55296 && code < 57344) return "?"
        return sprintf("%c%c%c", 224 + int(code / 4096), 128 + int(code / 64) % 64, 128 + code % 64)
    }
    function text(    out, piece, at) {
        p++
        out = ""
        while (p <= n) {
            piece = substr(s, p, 512)
            at = match(piece, /["\\]/)
            if (!at) { out = out piece; p += length(piece); continue }
            out = out substr(piece, 1, at - 1)
            p += at
            if (substr(piece, at, 1) == "\"") return out
            p++
            out = out escaped(substr(s, p - 1, 1))
        }
        return out
    }
    function value(path,    c, key, i) {
        blank()
        c = substr(s, p, 1)
        if (c == "\"") { print path "\t" text(); return }
        if (c == "{" || c == "[") {
            p++
            for (i = 0; p <= n; i++) {
                blank()
                if (index("}]", substr(s, p, 1))) { p++; return }
                if (c == "{") { key = text(); blank(); p++ } else key = i
                value(path "/" key)
                blank()
                if (substr(s, p, 1) == ",") p++
            }
            return
        }
        i = match(substr(s, p, 64), /[],} \t\r\n]/)
        if (!i) i = 65
        print path "\t" substr(s, p, i - 1)
        p += i - 1
    }
    { s = s $0 "\n" }
    END { n = length(s); p = 1; value("") }' "$1"
}

# The text at a path of the brief; empty when there is none.
given() {
    printf '%s\n' "$brief" | awk -v want="$1" '
        index($0, want "\t") == 1 {
            text = substr($0, length(want) + 2)
            gsub(/\001/, "\n", text)
            gsub(/\002/, "\t", text)
            print text
            exit
        }'
}

# Standard input as a JSON string. Bytes that are not UTF-8 become question marks, so that a file name in some
# old encoding cannot spoil the report.
json_string() {
    awk '
    BEGIN {
        for (i = 1; i < 256; i++) code[sprintf("%c", i)] = i
        shown["\""] = "\\\""; shown["\\"] = "\\\\"; shown["\t"] = "\\t"; shown["\r"] = ""
    }
    function follows(i, count,    k, b) {
        for (k = 1; k <= count; k++) {
            b = code[substr($0, i + k, 1)]
            if (b < 128 || b > 191) return 0
        }
        return count
    }
    NR == 1 { printf "\"" }
    NR > 1 { printf "\\n" }
    !/["\\\001-\037\177-\377]/ { printf "%s", $0; next }
    {
        size = length($0)
        for (i = 1; i <= size; i++) {
            c = substr($0, i, 1)
            b = code[c]
            if (c in shown) printf "%s", shown[c]
            else if (b < 32 || b == 127) printf "?"
            else if (b < 128) printf "%s", c
            else {
                more = 0
                if (b >= 194 && b <= 223) more = follows(i, 1)
                else if (b >= 224 && b <= 239) more = follows(i, 2)
                else if (b >= 240 && b <= 244) more = follows(i, 3)
                if (more) { printf "%s", substr($0, i, more + 1); i += more } else printf "?"
            }
        }
    }
    END { if (NR == 0) printf "\""; printf "\"" }'
}

# One member of an object: `"key": "text"`.
member() {
    printf '%s: ' "$(printf '%s' "$1" | json_string)"
    printf '%s' "$2" | json_string
}

# The criteria that the brief asks about, word for word, each with the answer `met` and the reason.
judged() {
    printf '%s\n' "$brief" | sed -n "s|^/criteria/[0-9]*$tab||p" | {
        between=''
        while IFS= read -r criterion; do
            printf '%s{%s, "met": true, "confidence": 100, %s}' "$between" \
                "$(member criterion "$criterion")" "$(member reason "$1")"
            between=', '
        done
    }
}

# One measurement, as a member of the report: `"observations": [...]`.
measured() {
    printf '"observations": [{"type": "MEASUREMENT", %s, %s}]' "$(member subject "$1")" "$(member value "$2")"
}

# report STATUS SUMMARY OUTPUTS [FURTHER MEMBERS]: writes the report to the engine.
report() {
    printf '{"status": "%s", %s, "outputs": {%s}, "confidence": 100, "criteria": [%s]%s}\n' \
        "$1" "$(member summary "$2")" "$3" "$(judged "$2")" "${4:+, $4}" >"$SERIATIM_REPORT"
}

# The work cannot be done, and trying again would not help.
give_up() {
    printf '{"status": "failed", %s, "error": {"class": "permanent", %s}}\n' \
        "$(member summary "$1")" "$(member message "$1")" >"$SERIATIM_REPORT"
    exit 0
}
