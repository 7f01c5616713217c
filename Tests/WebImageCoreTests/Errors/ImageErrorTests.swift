// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore

@Suite("Image errors")
struct ImageErrorTests {
    private static func network(_ reason: NetworkError.Reason, status: Int? = nil) -> ImageError {
        .network(NetworkError(reason, url: "https://a.example/", phase: .head, status: status))
    }

    private static func remembered(_ cause: ImageError) -> ImageError {
        .cache(.remembered(cause: cause, since: Date(), until: Date() + 60))
    }

    private static let table: [(error: ImageError, status: Int?, isRetryable: Bool)] = [
        (network(.status, status: 404), 404, false),
        (network(.status, status: 429), 429, true),
        (network(.status, status: 503), 503, true),
        (network(.contentTypeRefused, status: 200), 200, false),
        (network(.timedOut), nil, true),
        (network(.connectionLost), nil, true),
        (network(.certificateExpired), nil, false),
        (.limit(LimitError(.overloaded, limit: 1, actual: 2)), nil, true),
        (.limit(LimitError(.pixels, limit: 1, actual: 2)), nil, false),
        (.decode(.unknownFormat), nil, false),
        (.decode(.notAnImage(.html, status: 200)), 200, false),
        (.request(.cancelled), nil, false),
        (.cache(.notInCache), nil, false),
    ]

    @Test("A remembered error has the status, the cause, and the retryability of the first one")
    func seesThrough() {
        for (error, status, isRetryable) in Self.table {
            for each in [error, Self.remembered(error), Self.remembered(Self.remembered(error))] {
                #expect(each.underlying == error)
                #expect(each.httpStatus == status, "\(each)")
                #expect(each.isRetryable == isRetryable, "\(each)")
            }
        }
    }
}
