// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Testing
import WebImageCore

@Suite("Image errors")
struct ImageErrorTests {
    private static func network(_ reason: ImageError.NetworkFailure.Reason, status: Int? = nil) -> ImageError {
        .network(
            ImageError.NetworkFailure(
                reason, url: URL(filePath: "/a"), phase: .waitingForResponse, statusCode: status))
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

    @Test("A remembered error has the code, the status, and the retryability of the first one, and a date")
    func remembered() {
        let date = Date(timeIntervalSince1970: 1_800_000_000)
        for (error, status, isRetryable) in Self.table {
            let remembered = error.remembered(until: date)
            #expect(error.rememberedUntil == nil)
            #expect(remembered.rememberedUntil == (error.isRememberable ? date : nil))
            #expect(remembered.attempts == error.attempts && remembered.remembered(until: nil) == error)
            #expect(remembered.message.contains("2027-01-15") == error.isRememberable)
            for each in [error, remembered] {
                #expect(each.code == error.code && each.httpStatusCode == status, "\(each)")
                #expect(each.isTransient == isRetryable, "\(each)")
            }
        }
    }

    @Test("Only a manager with too many requests in flight is overloaded")
    func overload() {
        for kind in ImageError.LimitFailure.Kind.allCases {
            let error = ImageError.limitExceeded(ImageError.LimitFailure(kind, limit: 1, actual: 2))
            #expect(error.isOverloaded == (kind == .overloaded) && error.code == kind.rawValue)
        }
        #expect(!ImageError.cancelled.isOverloaded)
    }

    @Test("The localized description is the message, and an NSError has the code")
    func bridging() {
        for (error, _, _) in Self.table {
            let erased: any Error = error
            #expect(error.errorDescription == error.message && erased.localizedDescription == error.message)
            #expect(error.errorCode == error.code && ImageError.errorDomain == "WebImage.ImageError")
        }
    }

    @Test("A custom coder throws a decoding failure with a reason and a format")
    func decoding() {
        let error = ImageError.decoding(ImageError.DecodingFailure(.corrupted("the palette is empty"), format: .gif))
        #expect(error.code == 4006 && error.message == "The gif data is corrupt: the palette is empty.")
        guard case .decoding(let failure) = error, case .corrupted(let reason) = failure.reason else {
            Issue.record("\(error)")
            return
        }
        #expect(failure.format == .gif && reason == "the palette is empty")
    }

    @Test("Each decoding failure has a code of its own and a message, with and without a format")
    func decodingReasons() {
        let reasons: [ImageError.DecodingFailure.Reason] = [
            .noData, .unknownFormat, .notAnImage, .noDecoder, .truncated(receivedBytes: 1, expectedBytes: 2),
            .corrupted("x"), .unsupportedFeature("x"),
            .allDecodersFailed([ImageError.DecodingFailure(.noData), ImageError.DecodingFailure(.unknownFormat)]),
            .contradictsHeader("x"), .outOfMemory(byteCount: 1), .decoderCrashed("x"), .isolationUnavailable("x"),
            .decoderSuspended(crashCount: 5, seconds: 60),
        ]
        for format in [nil, ImageFormat.png] {
            let errors = reasons.map { ImageError.decoding(ImageError.DecodingFailure($0, format: format)) }
            #expect(errors.map(\.code) == Array(4001...4013))
            for error in errors { #expect(error.message.hasSuffix(".") && !error.message.contains("nil"), "\(error)") }
        }
    }

    @Test("A canceled request has a case and a code of its own")
    func cancellation() {
        let error: any Error = ImageError.cancelled
        var isCancelled = false
        do { throw error } catch ImageError.cancelled { isCancelled = true } catch {}
        #expect(isCancelled)
        #expect(ImageError.cancelled.isCancelled && !ImageError.request(.invalidSize("0x0")).isCancelled)
        #expect(ImageError.cancelled.code == 1001 && ImageError.cancelled.message == "The request was canceled.")
    }

    @Test("Messages contain the words of the operating system")
    func systemErrors() {
        let unreadable = ImageError.request(.fileUnreadable(path: "/a", errno: EISDIR))
        #expect(unreadable.message == "The file /a can't be read: Is a directory.")
        let full = ImageError.cache(.systemCallFailed(operation: "write", path: "/a", errno: ENOSPC))
        #expect(full.message == "Writing failed for /a: No space left on device.")
        for (operation, words) in [
            ("openat2", "Opening"), ("mkdir", "Creating the directory"), ("lstat", "Reading"), ("rename", "Renaming"),
            ("Writing", "Writing"),
        ] {
            let error = ImageError.cache(.systemCallFailed(operation: operation, path: "a", errno: ENOENT))
            #expect(error.message == "\(words) failed for a: No such file or directory.")
        }
    }

    @Test("Messages of network failures contain no names of Swift cases")
    func networkWords() throws {
        let url = try #require(URL(string: "https://a.example/b"))
        for reason in ImageError.NetworkFailure.Reason.allCases {
            for phase in ImageError.NetworkFailure.Phase.allCases {
                let message = ImageError.NetworkFailure(reason, url: url, phase: phase).message
                #expect(!message.contains("phase"), "\(message)")
                #expect(!message.contains(/[a-z][A-Z]/), "\(message)")
            }
        }
        let late = ImageError.NetworkFailure(.timedOut, url: url, phase: .waitingForResponse)
        #expect(late.message == "The request timed out while waiting for the response [https://a.example/b].")
        #expect(
            ImageError.NetworkFailure(.timedOut, url: url, phase: .total).message
                == "The request timed out [https://a.example/b].")
    }
}
