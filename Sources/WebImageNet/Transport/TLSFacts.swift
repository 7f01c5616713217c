// SPDX-License-Identifier: MIT

import CCurl

/// The TLS information about one connection, which libcurl reports only as text or not at all. Only the network thread
/// uses it.
final class TLSFacts {
    private let pointer: UnsafeMutablePointer<wi_tls_facts>

    /// Creates empty information. Returns `nil` if memory is exhausted.
    init?() {
        guard let pointer = wi_tls_facts_create() else { return nil }
        self.pointer = pointer
    }

    deinit { wi_tls_facts_release(pointer) }

    /// The last alert of the server other than `close_notify` (RFC 8446 6), or `nil` if there was none.
    var alert: Int32? { pointer.pointee.alert < 0 ? nil : pointer.pointee.alert }

    var hasEnded: Bool { pointer.pointee.has_ended }

    var requiresCertificate: Bool { pointer.pointee.wants_certificate }

    var isHTTP2: Bool { pointer.pointee.is_http2 }

    /// Observes the connections of an `SSL_CTX`, which retains the information as long as it needs it.
    func observe(_ context: UnsafeMutableRawPointer) { wi_tls_observe(context, pointer) }
}
