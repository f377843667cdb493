#pragma once
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Backends: each is a worker of its own, which builds specs, runs and times them.
namespace tune {

/// `program` runs whole programs, all others kernels. `automatic` is none of them: a file's suffix tells which one.
enum class Backend { automatic, cuda, hip, cpu, program };

/// What the compiler of a backend reads of the environment: nothing, the folders of headers, or all that flags can say.
enum class CompilerEnvironment { nothing, folders, flags };

/// In what backends differ for everybody but their workers.
struct BackendTraits {
  using Names = std::span<const std::string_view>;
  Backend backend;
  std::string_view name;      ///< in tuning files, behind --backend, and in the name of its worker
  bool is_gpu = false;        ///< false: the device is what the driver runs on, so builds disturb measurements
  bool has_clusters = false;  ///< launches may have `cluster` and `programmatic`
  bool has_tensor_maps = false;
  Names suffixes = {};             ///< of sources that are meant for it
  const char* artifact = "";       ///< what its worker calls the file that it builds
  std::string_view arch = {};      ///< what the names of its architectures begin with; empty: anything
  const char* arch_example = "";   ///< which many devices run
  Names device_names = {};         ///< what its probe answers, without `device.`; sorted
  Names build_names = {};          ///< the properties of its builds
  Names vendor_variables = {};     ///< prefixes of the environment variables that the vendor's library heeds
  const char* device_choice = "";  ///< the environment variable that says which devices a process sees
  CompilerEnvironment compiler_reads = CompilerEnvironment::nothing;
  double process_bytes = 0;  ///< memory of a device that a process takes in addition to its buffers
  const char* needs = "";    ///< for building its worker, in addition to what `tune` itself needs
};

/// All but `automatic`; those of kernels come in the order in which they are preferred.
std::span<const BackendTraits> backends();
/// Of `automatic`, the name and nothing else.
const BackendTraits& traits_of(Backend backend);

inline std::string_view to_text(Backend backend) { return traits_of(backend).name; }
inline bool is_gpu(Backend backend) { return traits_of(backend).is_gpu; }
inline bool is_program(Backend backend) { return backend == Backend::program; }

/// Those of all, `auto` first.
std::vector<std::string_view> backend_names();
/// By its name; `auto` is `automatic`.
std::optional<Backend> parse_backend(std::string_view name);
/// The one that a source is meant for, by its suffix.
std::optional<Backend> backend_of_source(const std::filesystem::path& file);

}  // namespace tune
