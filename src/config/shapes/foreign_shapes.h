#pragma once
#include <filesystem>
#include <optional>
#include <string_view>

#include "config/shapes/shapes.h"
#include "config/yaml/node.h"

namespace tune::config {

// Lists of shapes in the formats of other tools, which say what was called or tuned there. Each function returns
// nullopt if the text is of another format, and throws Error(bad_input) if it is of this one and holds no shape. Shapes
// that occur several times are one shape with all their calls, in the order of their first occurrence.

/// A log as read_log_line understands it. Lines of other programs may stand between.
std::optional<ShapeList> shapes_of_log(std::string_view text, const std::filesystem::path& path);

/// A table whose first line names columns M, N and K in any order, separated by commas, semicolons, tabs or blanks. It
/// may also have columns for the number of calls, the batch and, as aiter's tables do, for types of PyTorch; others are
/// ignored. Lines that begin with # are comments.
std::optional<ShapeList> shapes_of_table(std::string_view text, const std::filesystem::path& path);

/// A tuned configuration of vLLM: a mapping whose keys are values of M, in a file whose name says N and K:
/// `N=1024,K=2048,device_name=NVIDIA_H200,dtype=fp8_w8a8.json`.
std::optional<ShapeList> shapes_of_vllm(const Node& root, const std::filesystem::path& path);

}  // namespace tune::config
