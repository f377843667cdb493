#pragma once
#include <chrono>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platform/files/descriptor.h"

namespace tune::platform {

/// The most that is read of a file, unless its reader says less; of a pipe or a device it is 64 MiB at most.
inline constexpr std::uintmax_t kLongestFile = std::uintmax_t{4} << 30;

/// How long a pipe is waited for that no program has opened to write into it.
inline constexpr std::chrono::milliseconds kPatience{5'000};

/// `a folder`, `a pipe`, `a device` or `a socket`; empty for a regular file, and where there is none. Follows links.
std::string kind_of_file(const std::filesystem::path& path);

/// Whether the name ends in .yaml or .yml.
bool is_yaml(const std::filesystem::path& path);

/// The file of the same folder and of one of these suffixes whose name, suffix aside, is most similar; empty: none is.
std::filesystem::path nearest_file(const std::filesystem::path& path, std::span<const std::string_view> suffixes);

/// The names of files, each with as many of its folders as tell it from the others: a/run.jsonl, b/run.jsonl.
std::vector<std::string> distinct_names(std::span<const std::filesystem::path> paths);

/// The bytes of a file. Throws Error(bad_input) with the path and the cause: the system's, more than `most` bytes, or a
/// pipe that no program opens to write into it for as long as `patience`.
std::string read_file(const std::filesystem::path& path, std::uintmax_t most = kLongestFile,
                      std::chrono::milliseconds patience = kPatience);

/// Reads a file that is open; a pipe is read without waiting (O_NONBLOCK).
std::string read_file(const Descriptor& file, const std::filesystem::path& path, std::uintmax_t most = kLongestFile,
                      std::chrono::milliseconds patience = kPatience);

/// Whether the path still leads to this open file, and not to another one or to none.
bool leads_to(const std::filesystem::path& path, const Descriptor& file);

/// Makes the folder of a file that is to be written. Returns what prevented it; the file cannot be opened then.
std::error_code make_folder_of(const std::filesystem::path& file);

/// Writes a file as a whole or not at all: a new file in the same folder, which is made if it is not there, flushed to
/// disk and renamed. What a writer that was killed left there is removed. Throws Error(environment) with the path and
/// the cause.
void write_file(const std::filesystem::path& path, std::string_view text);

/// Whether the file system of this folder has no room for one more small file. False if that cannot be told.
bool is_full(const std::filesystem::path& folder);

}  // namespace tune::platform
