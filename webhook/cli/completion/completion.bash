# Completion of streams-placement for bash 4 or newer: source <(streams-placement completion bash)

_streams_placement() {
    local current="${COMP_WORDS[COMP_CWORD]}" words=() line found=() directive=0 glued="" i prefix
    # bash takes words apart at = and :, which is undone here.
    for ((i = 1; i <= COMP_CWORD; i++)); do
        if [[ "${COMP_WORDS[i]}" =~ ^[=:]+$ && ${#words[@]} -gt 0 ]]; then
            words[${#words[@]} - 1]+="${COMP_WORDS[i]}"
            glued=yes
        elif [[ -n "$glued" ]]; then
            words[${#words[@]} - 1]+="${COMP_WORDS[i]}"
            glued=""
        else
            words+=("${COMP_WORDS[i]}")
        fi
    done
    [[ "$current" =~ ^[=:]+$ ]] && current=""
    prefix="${words[${#words[@]} - 1]}"
    prefix="${prefix:0:${#prefix} - ${#current}}"
    while IFS= read -r line; do
        if [[ "$line" == :* ]]; then
            directive="${line#:}"
        else
            line="${line%%$'\t'*}"
            found+=("${line#"$prefix"}")
        fi
    done < <("${COMP_WORDS[0]/#\~/$HOME}" __complete "${words[@]}" 2>/dev/null)
    COMPREPLY=("${found[@]}")
    case "$directive" in
        0) compopt -o default ;;
        16)
            compopt -o filenames
            while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -d -- "$current")
            ;;
    esac
}

complete -F _streams_placement streams-placement
