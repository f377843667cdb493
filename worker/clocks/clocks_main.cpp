// tune-device-clocks BACKEND DEVICE FILE: sets the clocks of a device as its input says, and undoes it when the input
// ends: when the driver has ended, in whatever way. No signal that can be caught ends it before.
#include <signal.h>
#include <unistd.h>

#include <iostream>
#include <string>

#include "clocks/clock_holder.h"
#include "model/values/error.h"

namespace {

using namespace tune;

void outlive_the_driver() {
  ::setsid();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP, SIGUSR1, SIGUSR2})
    ::signal(signal, SIG_IGN);
}

std::unique_ptr<worker::ClockControl> open_control(const std::string& backend, const std::string& device) {
  if (backend == "hip") return worker::open_rocm_control(device);
  return backend == "cuda" ? worker::open_nvml_control(device) : worker::open_cpu_control();
}

int refuse(const wire::Refused& refused) {
  std::cout << wire::encode(wire::ClockAnswer(refused)) << std::endl;
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "tune starts this program itself, for runs whose parameters set a device's clocks\n";
    return 2;
  }
  outlive_the_driver();
  try {
    worker::ClockHolder holder(open_control(argv[1], argv[2]), argv[3]);
    worker::serve_clocks(holder, std::cin, std::cout);
  } catch (const worker::ClockRefusal& refusal) {
    return refuse(refusal.refused);
  } catch (const std::exception& error) {
    return refuse({wire::Refused::Why::other, error.what()});
  }
  return 0;
}
