# Completion of vpu for bash: share/bash-completion/completions/vpu.
#
# The program itself says what a word may become: vpu --complete WORD...

_vpu() {
    local words=() word joined=0 cur typed line files=0
    local nl=$'\n'

    # bash takes "--set=a:b" apart at '=' and ':'.
    for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
        if [[ $word == [=:]* && ${#words[@]} -gt 0 ]]; then
            words[-1]+=$word
            joined=1
        elif ((joined)); then
            words[-1]+=$word
            joined=0
        else
            words+=("$word")
        fi
    done
    cur=${words[-1]}
    typed=
    [[ $cur != *[=:]* || $COMP_WORDBREAKS != *[=:]* ]] ||
        typed=${cur%"${cur##*[=:]}"}
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ $line == :files ]]; then
            files=1
        else
            line=${line%%$'\t'*}
            COMPREPLY+=("${line#"$typed"}")
        fi
    done < <("${COMP_WORDS[0]}" --complete "${words[@]}" 2>/dev/null)
    if ((files)); then
        compopt -o filenames 2>/dev/null
        while IFS= read -r line; do
            [[ -z $line ]] || COMPREPLY+=("$line")
        done < <(compgen -f -- "${cur##*[=:]}")
    fi
    # What ends so goes on: a value, a name.
    [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *[=:] ]] ||
        compopt -o nospace 2>/dev/null
}
complete -F _vpu vpu
