#pragma once
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace tune::fuzz {

/// What must never be: the campaign ends with it.
class Finding : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One reader of the driver and the texts that it reads.
struct Reader {
  std::string name;
  std::vector<std::string> seeds;
  /// Gives it a text. Whether it was accepted; throws Finding if the reader does not keep its promises.
  std::function<bool(const std::string& text)> read;
};

/// `folder` is for files that readers need. What they promise: a text is accepted, or refused by an error of the
/// project's own that names the file and has no library's words in it; and what is accepted and written again reads
/// back as the same.
std::vector<Reader> readers(const std::filesystem::path& folder);

/// Complains if the words of a library, or characters that act on a terminal, stand in what a user sees.
void check_message(const std::string& message);

}  // namespace tune::fuzz
