// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore

@Suite("Image errors")
struct ImageErrorTests {
    private static func network(_ reason: ImageError.NetworkFailure.Reason, status: Int? = nil) -> ImageError {
        .network(
            ImageError.NetworkFailure(
                reason, url: URL(filePath: "/a"), phase: .waitingForResponse, statusCode: status))
    }

    private static func remembered(_ cause: ImageError) -> ImageError {
        .cache(.remembered(cause: cause, since: Date(), until: Date() + 60))
    }

    private static let table: [(error: ImageError, status: Int?, isRetryable: Bool)] = [
        (network(.unacceptableStatusCode, status: 404), 404, false),
        (network(.unacceptableStatusCode, status: 429), 429, true),
        (network(.unacceptableStatusCode, status: 503), 503, true),
        (network(.unacceptableContentType, status: 200), 200, false),
        (network(.timedOut), nil, true),
        (network(.connectionLost), nil, true),
        (network(.certificateExpired), nil, false),
        (.limitExceeded(ImageError.LimitFailure(.overloaded, limit: 1, actual: 2)), nil, true),
        (.limitExceeded(ImageError.LimitFailure(.pixelCount, limit: 1, actual: 2)), nil, false),
        (.decoding(.unknownFormat), nil, false),
        (.decoding(.notAnImage(.html, status: 200)), 200, false),
        (.cancelled, nil, false),
        (.cache(.notInCache), nil, false),
    ]

    @Test("A remembered error has the status, the cause, and the retryability of the first one")
    func seesThrough() {
        for (error, status, isRetryable) in Self.table {
            for each in [error, Self.remembered(error), Self.remembered(Self.remembered(error))] {
                #expect(each.underlying == error)
                #expect(each.httpStatusCode == status, "\(each)")
                #expect(each.isTransient == isRetryable, "\(each)")
            }
        }
    }
}
