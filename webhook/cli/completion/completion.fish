# Completion of streams-placement for fish: streams-placement completion fish | source

function __streams_placement_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l directive 0
    for line in ($words[1] __complete $words[2..-1] "$current" 2>/dev/null)
        if string match -q ':*' -- $line
            set directive (string sub -s 2 -- $line)
        else
            echo $line
        end
    end
    # Behind --flag= there is the name of a file, too.
    set -l prefix (string match -r -- '^--[a-z-]+=' "$current")
    or set prefix ''
    set -l path (string replace -r -- '^--[a-z-]+=' '' "$current")
    switch $directive
        case 0
            for line in (__fish_complete_path $path)
                echo $prefix$line
            end
        case 16
            for line in (__fish_complete_directories $path)
                echo $prefix$line
            end
    end
end

complete -c streams-placement -f -a '(__streams_placement_complete)'
