#include "platform/net/page_server.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <list>
#include <optional>

#include "model/values/error.h"

namespace tune::platform {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using NewsClock = std::chrono::steady_clock;

constexpr auto kNewsTick = std::chrono::milliseconds(250);
constexpr auto kSlowestReader = std::chrono::seconds(10);
constexpr int kIdleShare = 9;  // news are made for at most a tenth of the time
constexpr std::size_t kMostReaders = 32;
constexpr std::uint32_t kLongestHead = 8192;

std::string new_token() {
  unsigned char bytes[16];
  if (::getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
    throw Error(ExitCode::environment, "the system gives no random numbers, of which the page's address is made");
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

}  // namespace

/// One connection: a request, and its answer or a stream of news.
class PageReader : public std::enable_shared_from_this<PageReader> {
 public:
  using Handle = std::function<void(PageReader&, const http::request<http::empty_body>&)>;
  explicit PageReader(tcp::socket socket) : stream_(std::move(socket)) { parser_.header_limit(kLongestHead); }

  void read(Handle handle) {
    stream_.expires_after(kSlowestReader);
    http::async_read(stream_, buffer_, parser_,
                     [self = shared_from_this(), handle = std::move(handle)](error_code failed, std::size_t) {
                       if (failed) return self->close();
                       handle(*self, self->parser_.get());
                     });
  }

  void answer(http::status status, const std::string& type, std::string text) {
    http::response<http::string_body> response(status, 11, std::move(text));
    response.set(http::field::content_type, type);
    response.set(http::field::cache_control, "no-store");
    response.set(http::field::connection, "close");
    response.set("Referrer-Policy", "no-referrer");
    response.set("X-Content-Type-Options", "nosniff");
    response.set("X-Frame-Options", "DENY");
    response.prepare_payload();
    auto kept = std::make_shared<http::response<http::string_body>>(std::move(response));
    stream_.expires_after(kSlowestReader);
    http::async_write(stream_, *kept, [self = shared_from_this(), kept](error_code, std::size_t) { self->close(); });
  }

  void begin_stream() {
    streams_ = true;
    send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n");
  }
  bool streams() const { return streams_; }
  bool closed() const { return closed_; }
  bool busy() const { return writing_; }

  /// What cannot be sent at once waits, and only the newest does.
  void send(std::string text) {
    if (closed_) return;
    if (writing_) {
      waiting_ = std::move(text);
      return;
    }
    writing_ = true;
    auto kept = std::make_shared<std::string>(std::move(text));
    stream_.expires_after(kSlowestReader);
    asio::async_write(stream_, asio::buffer(*kept), [self = shared_from_this(), kept](error_code failed, std::size_t) {
      self->writing_ = false;
      if (failed) return self->close();
      self->stream_.expires_never();
      if (auto next = std::exchange(self->waiting_, std::nullopt)) self->send(std::move(*next));
    });
  }

  void close() {
    closed_ = true;
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
    stream_.socket().close(ignored);
  }

 private:
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  http::request_parser<http::empty_body> parser_;
  std::optional<std::string> waiting_;
  bool streams_ = false, writing_ = false, closed_ = false;
};

class PageServer::Impl {
 public:
  Impl(const Address& address, ServedPage served)
      : served_(std::move(served)), token_(new_token()), acceptor_(io_), timer_(io_) {
    error_code failed;
    const auto host = asio::ip::make_address(address.host, failed);
    if (failed)
      throw Error(ExitCode::bad_input, fmt::format("--live: '{}' is no address such as 127.0.0.1", address.host));
    const tcp::endpoint endpoint(host, address.port);
    const auto require = [&] {
      if (!failed) return;
      const bool used = failed == asio::error::address_in_use;
      throw Error(ExitCode::environment,
                  fmt::format("--live: {}:{} cannot be served: {}{}", address.host, address.port, failed.message(),
                              used ? "; choose another port, or 0 for a free one"
                                   : "; give an address of this machine, and a port that you may use"));
    };
    acceptor_.open(endpoint.protocol(), failed);
    require();
    acceptor_.set_option(tcp::acceptor::reuse_address(true), failed);
    acceptor_.bind(endpoint, failed);
    require();
    acceptor_.listen(tcp::acceptor::max_listen_connections, failed);
    require();
  }

  std::string url() const {
    const tcp::endpoint at = acceptor_.local_endpoint();
    const std::string host = at.address().is_v6() ? "[" + at.address().to_string() + "]" : at.address().to_string();
    return fmt::format("http://{}:{}/?token={}", host, at.port(), token_);
  }

  void run() {
    accept();
    tick();
    io_.run();
  }

 private:
  void accept() {
    acceptor_.async_accept([this](error_code failed, tcp::socket socket) {
      if (failed == asio::error::operation_aborted) return;
      std::erase_if(readers_, [](const auto& reader) { return reader->closed(); });
      if (!failed && make_room()) {
        readers_.push_back(std::make_shared<PageReader>(std::move(socket)));
        readers_.back()->read([this](PageReader& reader, const auto& request) { handle(reader, request); });
      }
      accept();
    });
  }

  // Whoever has not shown the token leaves first. Returns false if all have.
  bool make_room() {
    if (readers_.size() < kMostReaders) return true;
    const auto stranger = std::ranges::find_if(readers_, [](const auto& reader) { return !reader->streams(); });
    if (stranger == readers_.end()) return false;
    (*stranger)->close();
    readers_.erase(stranger);
    return true;
  }

  void handle(PageReader& reader, const http::request<http::empty_body>& request) {
    const std::string target(request.target());
    const std::size_t query = target.find('?');
    const std::string path = target.substr(0, query);
    const auto refuse = [&](http::status status, const char* why) {
      reader.answer(status, "text/plain; charset=utf-8", why);
    };
    if (request.method() != http::verb::get) return refuse(http::status::method_not_allowed, "Only GET is answered.\n");
    if (query == std::string::npos || target.substr(query) != "?token=" + token_)
      return refuse(http::status::forbidden, "The address lacks the token that tune has printed.\n");
    if (path == "/") return reader.answer(http::status::ok, "text/html; charset=utf-8", served_.page());
    if (path != "/events") return refuse(http::status::not_found, "There is nothing here.\n");
    reader.begin_stream();
    reader.send(event("message", served_.news()));
  }

  static std::string event(const char* name, const std::string& data) {
    return fmt::format("event: {}\ndata: {}\n\n", name, data);
  }

  void tell(const std::string& text) {
    for (const auto& reader : readers_)
      if (reader->streams()) reader->send(text);
  }

  bool has_listeners() const {
    return std::ranges::any_of(readers_, [](const auto& reader) { return reader->streams() && !reader->closed(); });
  }

  void tick() {
    if (served_.ended()) return end();
    if (NewsClock::now() >= next_news_ && has_listeners() && served_.changed()) {
      const auto began = NewsClock::now();
      tell(event("message", served_.news()));
      next_news_ = NewsClock::now() + kIdleShare * (NewsClock::now() - began);
    }
    timer_.expires_after(kNewsTick);
    timer_.async_wait([this](error_code failed) {
      if (!failed) tick();
    });
  }

  /// Open pages get the last news, and learn that these are the last.
  void end() {
    error_code ignored;
    acceptor_.close(ignored);
    if (!has_listeners()) return io_.stop();
    tell(event("message", served_.news()) + event("end", "{}"));
    const auto limit = NewsClock::now() + std::chrono::seconds(1);
    while (NewsClock::now() < limit && std::ranges::any_of(readers_, [](const auto& reader) { return reader->busy(); }))
      io_.run_one_for(kNewsTick);
    io_.stop();
  }

  ServedPage served_;
  std::string token_;
  asio::io_context io_;
  tcp::acceptor acceptor_;
  asio::steady_timer timer_;
  std::list<std::shared_ptr<PageReader>> readers_;
  NewsClock::time_point next_news_{};
};

PageServer::PageServer(const Address& address, ServedPage served)
    : impl_(std::make_unique<Impl>(address, std::move(served))) {}
PageServer::~PageServer() = default;
std::string PageServer::url() const { return impl_->url(); }
void PageServer::run() { impl_->run(); }

}  // namespace tune::platform
