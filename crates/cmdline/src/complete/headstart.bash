# Completion of headstart and its other programs for bash: the program itself says what may come next.

_headstart() {
    local IFS=$'\n' program=${1/#\~\//$HOME/} typed=$2 kind ending
    local -a reply files
    mapfile -t reply < <("$program" complete bash -- "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null)
    [[ ${#reply[@]} -ge 2 ]] || return
    COMPREPLY=("${reply[@]:2}")
    [[ ${reply[0]} == nospace ]] && compopt -o nospace
    [[ $typed == [=:] ]] && typed=
    case ${reply[1]} in
        folders) mapfile -t files < <(compgen -d -- "$typed") ;;
        programs) mapfile -t files < <(compgen -c -- "$typed") ;;
        files) mapfile -t files < <(compgen -f -- "$typed") ;;
        files\ *)
            IFS=' ' read -r -a kind <<<"${reply[1]#files }"
            for ending in "${kind[@]}"; do
                mapfile -t -O "${#files[@]}" files < <(compgen -f -X "!*$ending" -- "$typed")
            done
            if [[ ${#files[@]} -gt 0 || ${#COMPREPLY[@]} -gt 0 ]]; then
                mapfile -t -O "${#files[@]}" files < <(compgen -d -- "$typed")
            else
                mapfile -t files < <(compgen -f -- "$typed")
            fi
            ;;
    esac
    case ${reply[1]} in
        files* | folders) compopt -o filenames ;;
    esac
    COMPREPLY+=("${files[@]}")
}

complete -F _headstart headstart headstart-agent headstart-gateway headstart-lab
