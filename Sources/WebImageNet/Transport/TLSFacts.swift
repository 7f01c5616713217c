// SPDX-License-Identifier: MIT

import CCurl

/// What TLS showed of one connection: libcurl reports it only in words, if at all. Belongs to the network thread.
final class TLSFacts {
    private let pointer: UnsafeMutablePointer<wi_tls_facts>

    /// Creates facts; `nil` without memory.
    init?() {
        guard let pointer = wi_tls_facts_create() else { return nil }
        self.pointer = pointer
    }

    deinit { wi_tls_facts_release(pointer) }

    /// The last alert of the server but close_notify (RFC 8446 6); `nil` if there was none.
    var alert: Int32? { pointer.pointee.alert < 0 ? nil : pointer.pointee.alert }

    /// A Boolean value that indicates whether the server sent close_notify.
    var hasEnded: Bool { pointer.pointee.has_ended }

    /// A Boolean value that indicates whether the server requested a certificate.
    var wantsCertificate: Bool { pointer.pointee.wants_certificate }

    /// A Boolean value that indicates whether the server chose HTTP/2.
    var isHTTP2: Bool { pointer.pointee.is_http2 }

    /// Watches the connection of `context`, an SSL_CTX, which keeps the facts alive as long as it needs them.
    func observe(_ context: UnsafeMutableRawPointer) { wi_tls_observe(context, pointer) }
}
