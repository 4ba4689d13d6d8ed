# Completion of headstart and its other programs for fish: the program itself says what may come next.

function __headstart_complete
    set -l words (commandline -opc)
    set -l program $words[1]
    set -e words[1]
    set -l typed (commandline -ct)
    set -l reply ($program complete fish -- $words "$typed" 2>/dev/null)
    test (count $reply) -ge 2; or return
    printf '%s\n' $reply[3..]
    set -l rest (string sub --start (math (string length -- "$reply[1]") + 1) -- "$typed")
    switch $reply[2]
        case folders
            set -l found (__fish_complete_directories "$rest" '')
            test (count $found) -eq 0; or printf '%s\n' "$reply[1]"$found
        case programs
            __fish_complete_command
        case 'files*'
            set -l found (complete -C "__headstart_without_completions $rest")
            set -l named
            for ending in (string split ' ' -- $reply[2])[2..]
                set -a named (string match -r -- '.*'(string escape --style=regex -- $ending)'$|.*/$' $found)
            end
            test (count $named) -eq 0; and set named $found
            test (count $named) -eq 0; or printf '%s\n' "$reply[1]"$named
    end
end

for program in headstart headstart-agent headstart-gateway headstart-lab
    complete -c $program -f -a '(__headstart_complete)'
end
