#include "cli/cluster_options.h"

#include <algorithm>
#include <charconv>

#include "cli/kinds.h"
#include "cli/options.h"
#include "model/values/error.h"

namespace tune {
namespace {

/// `node1`, `node1:7000` or `[::1]:7000`.
std::optional<platform::PageAddress> parse_host(const std::string& text) {
  platform::PageAddress address{text, 0};
  const std::size_t colon = text.rfind(':');
  const bool bracketed = text.starts_with('[') && text.find(']') != std::string::npos;
  if (colon != std::string::npos && (bracketed ? colon > text.find(']') : text.find(':') == colon)) {
    const char* const end = text.data() + text.size();
    const auto [read, error] = std::from_chars(text.data() + colon + 1, end, address.port);
    if (error != std::errc() || read != end) return std::nullopt;
    address.host = text.substr(0, colon);
  }
  if (bracketed) address.host = address.host.substr(1, address.host.find(']') - 1);
  return address.host.empty() ? std::nullopt : std::optional(address);
}

std::string refusal(const std::string& text) {
  return parse_host(text) ? "" : "'" + text + "' is no address such as node1 or node1:7000";
}

[[noreturn]] void refuse_cluster(const std::string& text) { throw Error(ExitCode::bad_input, text); }

}  // namespace

void add_several_machines(CLI::App& app, ClusterOptions& cluster) {
  const char* group = "Several machines";
  const auto seconds = CLI::Validator(
      [](const std::string& text) {
        double value = 0;
        return CLI::detail::lexical_cast(text, value) && value > 0 ? "" : "'" + text + "' is no time above 0";
      },
      "");
  app.add_option("--launcher", cluster.launcher,
                 "Run on several machines: slurm, ssh, or a command with {agent} that starts agents")
      ->group(group)
      ->type_name("slurm|ssh|COMMAND");
  app.add_option("--hosts", cluster.hosts, "Machines for ssh, or for a command with {host}")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(group)
      ->type_name("A,B");
  app.add_option("--agents", cluster.agents, "Agents that the --launcher command starts (default: one per host)")
      ->check(whole(1))
      ->group(group)
      ->type_name("N");
  app.add_option_function<std::string>(
         "--listen", [&cluster](const std::string& text) { cluster.listen = parse_host(text); },
         "Address of this machine that agents connect to (default: the one of its name)")
      ->check(refusal)
      ->group(group)
      ->type_name("HOST[:PORT]");
  app.add_option("--agents-within", cluster.agents_within, "Seconds in which all agents must connect")
      ->check(seconds)
      ->capture_default_str()
      ->group(group)
      ->type_name("S");
  app.add_option("--agent-timeout", cluster.agent_timeout,
                 "Seconds of silence after which an agent is lost, and its specs go to others")
      ->check(seconds)
      ->capture_default_str()
      ->group(group)
      ->type_name("S");
}

void add_agent(CLI::App& app, AgentOptions& agent) {
  CLI::App* command = app.add_subcommand("agent", "Work for a run on another machine, which starts this by --launcher");
  command
      ->add_option_function<std::string>(
          "--connect", [&agent](const std::string& text) { agent.driver = parse_host(text).value(); },
          "Where that run listens; the token is in TUNE_AGENT_TOKEN, or the first line of standard input")
      ->check(refusal)
      ->required()
      ->type_name("HOST:PORT");
}

void refuse_cluster_conflicts(const Options& options) {
  const ClusterOptions& cluster = options.cluster;
  if (!cluster.launcher) {
    if (!cluster.hosts.empty()) refuse_cluster("--hosts are for --launcher ssh; give that too");
    if (cluster.agents > 0) refuse_cluster("--agents are what a --launcher command starts; give that too");
    if (cluster.listen)
      refuse_cluster("--listen is for the agents of --launcher; give that too (a page is served by --live)");
    return;
  }
  if (options.dry_run || options.build_only || options.probe || options.simulate)
    refuse_cluster("--launcher starts agents that measure; --dry-run, --build-only, --probe and --simulate need none");
  if (std::ranges::count(cluster.hosts, "") > 0) refuse_cluster("--hosts has an empty name; write --hosts node1,node2");
  auto hosts = cluster.hosts;
  std::ranges::sort(hosts);
  if (const auto twice = std::ranges::adjacent_find(hosts); twice != hosts.end())
    refuse_cluster("--hosts names " + *twice + " twice; one agent has all devices of its machine");
}

}  // namespace tune
