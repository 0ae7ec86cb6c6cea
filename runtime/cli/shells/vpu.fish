# Completion of vpu for fish: share/fish/vendor_completions.d/vpu.fish.
#
# The program itself says what a word may become: vpu --complete WORD...

function __vpu_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l found (command $words[1] --complete $words[2..-1] 2>/dev/null)

    for line in $found
        if test "$line" = :files
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete -c vpu -f -a '(__vpu_complete)'
