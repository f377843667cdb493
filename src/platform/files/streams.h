#pragma once
#include <string_view>

namespace tune::platform {

// Where this program prints: results on stdout, all else on stderr. Nothing here throws because a stream takes no text:
// when the terminal, the disk or the reader is gone, a run still writes its files and returns its exit code. Hidden
// characters in what others wrote are escaped here (model/values/shown.h).

/// Must be called first. Closed streams become /dev/null, and writing to a pipe without a reader, or beyond the
/// limit of a file, raises no signal.
void open_standard_streams();
/// Prints results. Returns false if stdout takes no more text, now or since an earlier call.
bool print(std::string_view text);
/// The same for results whose hidden characters are escaped already: escape sequences in it are our own.
bool print_escaped(std::string_view text);
/// Sends on what was printed.
void flush_results();
/// Whether all that was printed went out, or its reader left early (`| head`) of its own will. Reports it if not.
bool results_arrived();
/// Prints one line on stderr, whatever the text holds: none of it can begin a line of its own, such as `::error`, which
/// means something to who reads the log. Its loss changes nothing.
void print_to_stderr(std::string_view line);

}  // namespace tune::platform
