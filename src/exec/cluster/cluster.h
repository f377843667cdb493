#pragma once
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "exec/cluster/agent_starters.h"
#include "exec/workers.h"
#include "platform/net/frame_hub.h"
#include "wire/agents/agent_messages.h"

namespace tune::exec {

/// What a user says of where agents come from, and when they are given up.
struct ClusterSettings {
  LauncherSettings launcher = {};
  std::string host = {};  ///< where agents connect to; empty: an address of this machine
  std::uint16_t port = 0;
  double start_seconds = 60;    ///< in which all agents must connect
  double silence_seconds = 10;  ///< after which an agent is lost
};

struct ClusterRules : ClusterSettings {
  std::string program = {};                 ///< the file of `tune` on the other machines
  std::optional<std::string> devices = {};  ///< --devices, of every machine
  bool per_model = false;                   ///< several models are tuned for, one after the other
  double step_seconds = 120;                ///< the longest that an agent is busy with one thing: a build
  /// Tells a person, at once.
  std::function<void(const std::string& text, bool is_warning)> say = {};
};

/// A tuning file and all it needs, as agents get them.
struct AgentPlan {
  wire::PlanOrder order;
  std::vector<wire::InputFile> files;
  std::string source_hash;  ///< what agents must find too; empty: they need not
  bool may_wait = false;    ///< agents may have to wait until another run gives its clocks back
};

/// The agents of a run on other machines: how they are started and ended, who may connect, and whether they live. It is
/// started when it is first asked for something. What specs the agents have is not known here.
class Cluster : public OtherMachines {
 public:
  using Clock = std::chrono::steady_clock;
  using Say = std::function<void(const std::string& text, bool is_warning)>;
  /// Its place among the agents, which it keeps when others are lost.
  using Number = std::size_t;

  struct Report {
    Number agent;
    wire::AgentReport report;
  };
  /// An agent that is lost: from now on it does not work. wait() tells of each once, whatever the cause: its connection
  /// ended, or was silent for too long; its connection lives, but it has said nothing for longer than any step takes;
  /// it said what cannot be understood, or that it is unable to go on; or it can time none of the calibration specs.
  /// All of them call give_up(). What becomes of its specs is said in AgentRunner::lose().
  struct Lost {
    Number agent;
    std::string why;
  };
  using Event = std::variant<Report, Lost>;

  struct Agent {
    platform::FrameHub::Id link = 0;
    std::string name = {};  ///< for messages
    std::string step = {};
    bool lives = true;
    Clock::time_point heard = Clock::now();  ///< when it last said something, beyond that it lives
    std::vector<std::string> models = {};    ///< of its devices, if several models are tuned for
    int devices = 1;
    int slots = 1;
  };

  explicit Cluster(ClusterRules rules);
  /// Ends the agents, and then what started them: first by asking them, Slurm then by scancel, at last by force.
  ~Cluster() override;
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  /// Starts the agents, unless they are. Throws Error(bad_input) for rules that cannot be followed, Error(environment)
  /// if agents do not start, and Interrupted.
  void start() override;
  /// What the machines are. Throws Error(bad_input) if they are not alike, Error(environment) if agents cannot be
  /// started or lack a worker, and Interrupted.
  const wire::Hello& probe(Backend backend) override;
  /// The models of the machines' devices, each once. Throws as probe, but machines may differ.
  std::vector<std::string> models(Backend backend) override;
  /// From now on only machines with devices of this model work, with these devices. The others rest. Throws
  /// Error(environment) if none is left.
  void choose_model(Backend backend, const std::string& model) override;
  /// Has all agents prepare for specs of this plan. Throws Error(environment) if none can, and Interrupted.
  void prepare(const AgentPlan& plan);

  const std::vector<Agent>& agents() const { return agents_; }
  /// Whether it lives, and has a device of the model that is tuned for.
  bool works(Number agent) const;
  std::vector<Number> working() const;
  /// Of all agents that work.
  int devices() const override;
  /// See cluster_executor().
  std::unique_ptr<Executor> executor(const RequestFactory& requests, const AgentPlan& plan, platform::StorePlaces store,
                                     RunObserver& observer) override;

  void send(Number agent, const wire::AgentOrder& order);
  /// To those that work.
  void send_all(const wire::AgentOrder& order);
  /// From now on it is lost.
  void give_up(Number agent, const std::string& why);
  /// The next event; nullopt when `until` has passed first. Throws Interrupted.
  std::optional<Event> wait(Clock::time_point until);
  void say(const std::string& text) const;
  void warn(const std::string& text) const;
  /// With what the starters of the agents said. Throws Error(environment).
  [[noreturn]] void throw_missing(std::string text) const;
  /// Whom to tell from now on; returns who was told until now.
  Say set_say(Say say) { return std::exchange(rules_.say, std::move(say)); }

 private:
  void start_agents();
  void await_agents(int count);
  std::string names_of(std::span<const Number> agents) const;
  std::optional<Report> next_report(std::vector<Number>& awaited);
  std::map<Number, wire::Probed> ask_all(const wire::ProbeOrder& order);
  void send_to_living(const wire::AgentOrder& order);
  std::optional<Report> understand(platform::FrameHub::Event event);
  std::optional<Report> take(platform::FrameHub::Id link, const std::string& text);
  void admit(platform::FrameHub::Id link, const std::string& text);
  void refuse(const std::string& text);
  Clock::duration idle_limit(double step_seconds) const;
  void give_up_idle(Clock::time_point now);
  std::string why_refused(const wire::AgentHello& hello) const;
  bool take_readiness(const Report& report, const AgentPlan& plan);
  void require_alike(const std::map<Number, wire::Probed>& probed) const;

  ClusterRules rules_;
  std::string token_;
  std::optional<Error> failed_;  ///< why agents could not be started
  std::unique_ptr<platform::FrameHub> hub_;
  std::unique_ptr<AgentStarters> starters_;
  Clock::time_point looked_{};
  std::map<platform::FrameHub::Id, std::string> strangers_;  ///< peers that have not said who they are
  std::vector<Agent> agents_;
  std::map<platform::FrameHub::Id, Number> by_link_;
  std::vector<Lost> lost_;                       ///< that wait() has not told of
  std::vector<std::string> refused_;             ///< not all of many
  bool complete_ = false;                        ///< all agents are there
  std::optional<Clock::duration> longest_idle_;  ///< in which a living agent says something; unset: it need not
  std::map<Backend, wire::Hello> hellos_;
  std::string model_;  ///< that is tuned for; empty: all
  std::set<std::string> sent_files_;
};

}  // namespace tune::exec
