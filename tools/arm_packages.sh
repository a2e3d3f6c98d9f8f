# Sourced by what runs programs for ARM under qemu. Debian's packages for ARM are unpacked into a
# folder: installed, they do not stand beside this machine's.

# Unpacks packages of Debian's release into the folder, once.
unpack_arm() { # <folder> <release> <package>...
  local folder=$1 release=$2 state=$1-apt package
  if [[ -e $folder/done ]]; then return; fi
  mkdir -p "$state"/{lists/partial,cache/archives/partial} "$folder"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $release main" >"$state/sources.list"
  local apt=(apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64
    -o APT::Sandbox::User=root -o Dir::State="$state" -o Dir::State::status=/dev/null
    -o Dir::Cache="$state/cache" -o Dir::Etc::sourcelist="$state/sources.list"
    -o Dir::Etc::sourceparts=/dev/null)
  "${apt[@]}" update
  (cd "$state" && "${apt[@]}" download "${@:3}")
  for package in "$state"/*.deb; do dpkg -x "$package" "$folder"; done
  touch "$folder/done"
}
