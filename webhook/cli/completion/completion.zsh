#compdef streams-placement
# Completion of streams-placement for zsh: source <(streams-placement completion zsh), or this file in a folder of fpath
# under the name _streams-placement.

_streams_placement() {
    local line directive=0
    local -a found plain
    for line in "${(@f)$("${(Q)words[1]}" __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
        if [[ "$line" == :* ]]; then
            directive="${line#:}"
        elif [[ "$line" == *$'\t'* ]]; then
            found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
        elif [[ -n "$line" ]]; then
            found+=("${line//:/\\:}")
        fi
    done
    if (( ${#found} )); then
        _describe -V 'streams-placement' found
        return
    fi
    [[ "$PREFIX" == --*=* ]] && compset -P '*='
    case "$directive" in
        0) _files ;;
        16) _files -/ ;;
    esac
}

if [[ "${funcstack[1]}" == "_streams-placement" ]]; then
    _streams_placement "$@"
else
    compdef _streams_placement streams-placement
fi
