// SPDX-License-Identifier: MIT

extension ImageError.NetworkFailure {
    /// Whether the server was unreachable or its response was interrupted.
    ///
    /// In this case, a stale response may be used (RFC 9111, section 4.2.4), and the request may succeed when the
    /// network returns.
    package var isUnreachable: Bool {
        switch reason {
        case .offline, .cannotFindHost, .cannotConnect, .timedOut, .connectionLost, .proxyFailed: true
        default: false
        }
    }
}

extension ImageError {
    /// Whether the server was unreachable or its response was interrupted.
    package var isUnreachable: Bool {
        guard case .network(let error) = self else { return false }
        return error.isUnreachable
    }
}
