// The smallest HTTP client that can ask this machine's metrics page.
#ifndef TIDEMARK_TESTS_SUPPORT_HTTP_GET_H_
#define TIDEMARK_TESTS_SUPPORT_HTTP_GET_H_

#include <string>

namespace tidemark::testing {

// The whole answer, headers and body, to a GET at 127.0.0.1:port; what was received when the
// connection breaks or nothing comes for ten seconds.
std::string HttpGet(int port, const std::string& path);

}  // namespace tidemark::testing

#endif  // TIDEMARK_TESTS_SUPPORT_HTTP_GET_H_
