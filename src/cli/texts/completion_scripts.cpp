#include "cli/texts/completion.h"

namespace tune::cli {
namespace {

constexpr const char* kBash =
    R"bash(# Completion of tune for bash, which `tune completion bash` prints: tune itself says what may stand there.
_tune() {
  local cur=${COMP_WORDS[COMP_CWORD]#=} kind endings word
  COMPREPLY=()
  {
    read -r kind _ endings
    read -r
    while IFS=$'\t' read -r word _; do [[ $word == "$cur"* ]] && COMPREPLY+=("$word"); done
  } < <("${1/#\~\//$HOME/}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  [[ $kind == words ]] || compopt -o filenames 2>/dev/null
  mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(
    case $kind in
      files | folders) compgen -d -- "$cur"; for word in $endings; do compgen -f -X "!*.$word" -- "$cur"; done ;;
      command) [[ ${COMP_WORDS[COMP_CWORD - 1]} == -- && $cur != */* ]] && compgen -c -- "$cur" || compgen -f -- "$cur" ;;
      any) compgen -f -- "$cur" ;;
    esac
  )
}
complete -F _tune tune
)bash";

constexpr const char* kZsh = R"zsh(#compdef tune
# Completion of tune for zsh, which `tune completion zsh` prints: tune itself says what may stand there.
_tune() {
  local -a answer=("${(@f)$(${(Q)~words[1]} __complete "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
  local -a head=(${=answer[1]}) offered=(${${answer[3,-1]//:/\\:}/$'\t'/:})
  local -i ret=1 dashes=${words[(i)--]}
  compset -p ${head[2]:-0}
  (( $#offered )) && _describe word offered && ret=0
  case $head[1] in
    words) (( $#offered )) || _message "${answer[2]//\%/%%}" ;;
    files) _files -g "*.(${(j:|:)head[3,-1]})" && ret=0 ;;
    folders) _files -/ && ret=0 ;;
    any) _files && ret=0 ;;
    command) shift $dashes words && (( CURRENT -= dashes )) && _normal && ret=0 ;;
  esac
  return ret
}

if [[ $funcstack[1] == _tune ]]; then
  _tune "$@"
else
  compdef _tune tune
fi
)zsh";

constexpr const char* kFish =
    R"fish(# Completion of tune for fish, which `tune completion fish` prints: tune itself says what may stand there.
function __tune_complete
    set -l words (commandline -opc | string replace -r '^~/' "$HOME/")
    set -l word (commandline -ct)
    command -sq -- $words[1]; or return
    set -l answer ($words[1] __complete $words[2..] "$word" 2>/dev/null)
    set -l head (string split ' ' -- $answer[1])
    set -q head[2]; or return
    set -l kept (string sub -l $head[2] -- "$word")
    string join \n -- $kept$answer[3..]
    set -l files $kept(complete -C "'' "(string sub -s (math $head[2] + 1) -- "$word") | string replace -r '\t.*' '')\t$answer[2]
    set -l endings (string join '|' -- $head[3..])
    switch $head[1]
        case files folders
            string match -r -- "^.*(?:/|\.(?:$endings))\t.*" $files
        case any command
            string join \n -- $files
    end
end

complete -c tune -f -a '(__tune_complete)'
)fish";

}  // namespace

std::string completion_script(const std::string& shell) {
  return shell == "bash" ? kBash : shell == "zsh" ? kZsh : kFish;
}

}  // namespace tune::cli
