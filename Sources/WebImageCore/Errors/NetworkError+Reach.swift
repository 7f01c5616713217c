// SPDX-License-Identifier: MIT

extension NetworkError {
    /// Whether the server could not be asked, or its answer was lost on the way: a stale copy may stand in (RFC 9111
    /// 4.2.4), and the return of the network may end the failure.
    package var isUnreachable: Bool {
        switch reason {
        case .offline, .cannotFindHost, .cannotConnect, .timedOut, .connectionLost, .proxyFailed: true
        default: false
        }
    }
}

extension ImageError {
    /// Whether the server could not be asked, or its answer was lost on the way.
    package var isUnreachable: Bool {
        guard case .network(let error) = self else { return false }
        return error.isUnreachable
    }
}
