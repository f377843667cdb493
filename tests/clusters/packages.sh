# Sourced. Unpacks Debian packages into a folder, without installing them: no right is needed, no service starts, and
# nothing of the machine changes.

# unpack_packages FOLDER PACKAGE...: makes FOLDER/root of the packages and of all that they need and the machine lacks.
unpack_packages() {
  local folder=$1 package
  shift
  [ ! -e "$folder/complete" ] || return 0
  rm -rf "$folder" && mkdir -p "$folder"/apt/lists/partial "$folder"/apt/cache/archives/partial
  local options=(-qq -o Dir::State::lists="$folder/apt/lists" -o Dir::Cache="$folder/apt/cache" -o Debug::NoLocking=1
    -o APT::Sandbox::User=)
  apt-get "${options[@]}" update &&
    apt-get "${options[@]}" install --download-only --no-install-recommends -y "$@" || return
  for package in "$folder"/apt/cache/archives/*.deb; do dpkg-deb -x "$package" "$folder/root" || return; done
  rm -rf "$folder/apt" && touch "$folder/complete"
}
