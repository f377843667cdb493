#pragma once

namespace tune::platform {

// What a stream of this process leads to, if that is a terminal.

/// How many columns the terminal has now; 0 if the descriptor is no terminal. Where the terminal does not say, COLUMNS
/// does, and without it a terminal has 80.
int terminal_columns(int descriptor);
/// Whether the descriptor is a terminal that understands escape sequences: TERM is set, and not to `dumb`.
bool takes_escapes(int descriptor);

}  // namespace tune::platform
