// SPDX-License-Identifier: MIT

import CCurl

/// The library that transfers data.
package enum TransportLibrary {
    /// The name and the version of libcurl, followed by those of its libraries, such as `libcurl/7.88.1 OpenSSL/3.0.15`.
    package static var version: String { String(cString: curl_version()) }
}
