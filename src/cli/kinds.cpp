#include "cli/kinds.h"

#include <charconv>

#include "cli/values.h"

namespace tune {

// CLI11's own check spells out the largest double in its message.
CLI::Validator positive() {
  return {[](const std::string& text) {
            double number = 0;
            const bool good = CLI::detail::lexical_cast(text, number) && number > 0;
            return good ? "" : "'" + text + "' is not a positive number";
          },
          ""};
}

// CLI11 itself takes the largest number for one that is too large.
CLI::Validator whole(std::int64_t least) {
  return {[least](const std::string& text) {
            std::int64_t number = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
            const bool good = error == std::errc() && end == text.data() + text.size() && number >= least;
            return good ? ""
                        : "'" + text + "' is not a whole number" +
                              (least == 1   ? " above 0"
                               : least == 0 ? " from 0 on"
                                            : " of 64 bits");
          },
          ""};
}

std::int64_t bytes_of(const std::string& option, const std::string& text) {
  if (const auto bytes = parse_bytes(text)) return *bytes;
  throw CLI::ValidationError(option,
                             "'" + text + "' is not a size; write a number followed by M or G, such as 500M or 12G");
}

CLI::Option* add_duration(CLI::App& app, const std::string& name, std::optional<double>& seconds, const char* help) {
  const auto set = [&seconds, name](const std::string& text) {
    seconds = parse_duration(text);
    if (!seconds) throw CLI::ValidationError(name, "'" + text + "' is no time above 0, such as 90s, 10m or 1.5h");
  };
  return app.add_option_function<std::string>(name, set, help)->type_name("TIME");
}

CLI::Option* add_share(CLI::App& app, const std::string& name, std::optional<double>& share, const std::string& kind,
                       const char* help) {
  const auto set = [&share, name, kind](const std::string& text) {
    share = parse_share(text);
    if (!share) throw CLI::ValidationError(name, "'" + text + "' is no " + kind);
  };
  return app.add_option_function<std::string>(name, set, help)->type_name("SHARE");
}

CLI::Option* add_top(CLI::App& app, std::optional<std::size_t>& top, const char* help) {
  return app
      .add_option_function<std::string>(
          "--top", [&top](const std::string& text) { top = text == "all" ? 0 : std::stoull(text); }, help)
      ->check([](const std::string& text) { return text == "all" ? "" : whole(1)(text); })
      ->type_name("N");
}

CLI::Option* add_exit_undecided(CLI::App& app, int& code) {
  return app
      .add_option("--exit-undecided", code,
                  "Exit with this if what was asked is undecided: 0 passes, 125 skips in git bisect")
      ->check(CLI::Range(0, 125).description(""))
      ->capture_default_str()
      ->type_name("CODE");
}

CLI::Option* add_live(CLI::App& app, std::optional<platform::PageAddress>& live, const char* help) {
  return app
      .add_option_function<std::string>(
          "--live", [&live](const std::string& text) { live = parse_page_address(text); }, help)
      ->check([](const std::string& text) {
        return parse_page_address(text) ? "" : "'" + text + "' is no port such as 8080, or 0 for a free one";
      })
      ->type_name("[ADDRESS:]PORT");
}

}  // namespace tune
