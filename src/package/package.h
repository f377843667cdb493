#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "package/variant.h"

namespace tune::package {

/// A result: sizes, the variant that is launched for them, and how long that took when it was tuned.
struct Entry {
  std::vector<std::int64_t> sizes;  ///< as size_names
  std::size_t variant = 0;
  std::string params;
  double milliseconds = 0, low = 0, high = 0, of_vendor = 0;  ///< 0: not known
  std::vector<std::int32_t> group_offsets = {};               ///< of groups of rows: when it was tuned
};

/// A node of the rule's tree: a size that is `most` or less goes on at node `below`; a leaf has no size.
struct Node {
  std::string size;
  std::int64_t most = 0;
  std::size_t below = 0, above = 0;
  std::size_t variant = 0;  ///< of a leaf
};

/// Sizes of a custom problem for which the test compares, and the elements of each buffer.
struct Case {
  std::vector<std::int64_t> sizes, counts;
};

/// A file of the kernel's source, as it is named in the package.
struct SourceFile {
  std::string name, text;
};

struct Package {
  std::string name;    ///< an identifier
  std::string folder;  ///< the name of its folder
  std::string kernel, backend, device, arch, driver, compiler, source;
  std::vector<std::string> aliases;  ///< other names of the device
  std::vector<Variant> variants;     ///< at least one
  std::vector<Entry> entries;        ///< at least one
  std::vector<Node> tree;            ///< may be empty
  bool serves_other_sizes = true;    ///< than those of the entries
  // of a custom problem
  std::vector<std::size_t> references;  ///< of each variant the one that is its reference; of a reference itself
  std::vector<Case> cases;              ///< those of the entries, in their order, and others
  // of a CPU kernel
  std::vector<SourceFile> sources;
  std::vector<std::string> include;  ///< folders of the sources in which headers are looked for
};

/// A variant of each binary, in the order in which the package numbers them.
std::vector<Variant> binaries_of(const Package& package);

/// All files of a package: names relative to its folder, and contents. Throws NotPackaged.
std::map<std::string, std::string> files_of(const Package& package);

/// The files that the text of a package's manifest.json lists, with the hashes of their contents; none: it is of no
/// package.
std::map<std::string, std::string> files_in(const std::string& manifest);

}  // namespace tune::package
