#pragma once
#include "exec/request/request_factory.h"
#include "report/build_table.h"

namespace tune::commands {

/// A row of which the launches are known, or that is lost because there can be none.
report::BuildRow launched_row(Spec spec, const exec::RequestFactory& requests);

}  // namespace tune::commands
