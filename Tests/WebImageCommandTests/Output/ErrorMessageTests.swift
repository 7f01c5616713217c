// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore

@testable import WebImageCommand

@Suite("Messages of the tool")
struct ErrorMessageTests {
    /// Returns the options that a message names.
    private func options(_ message: String) -> [String] {
        message.matches(of: /--([a-z-]+)/).map { String($0.1) }
    }

    @Test(
        "The message of an exceeded limit names its option instead of a property",
        arguments: ImageError.LimitFailure.Kind.allCases)
    func limits(_ kind: ImageError.LimitFailure.Kind) {
        let message = ImageError.limitExceeded(ImageError.LimitFailure(kind, limit: 10, actual: 20)).toolMessage
        #expect(!message.contains("`") && message.contains("20") && message.hasSuffix("."), "\(message)")
        let names = options(message)
        for name in names { #expect(OptionSpec.limits.contains { $0.name == name }, "\(message)") }
        // No option changes these limits.
        let fixed: Set<ImageError.LimitFailure.Kind> = [
            .metadataSize, .overloaded, .userDataSize, .unresponsiveThreadCount,
        ]
        #expect(names.isEmpty == fixed.contains(kind), "\(message)")
    }

    @Test("A file that can't be as small as requested has the option --target-size in its message")
    func targetSize() {
        let detail = "\(ImageError.LimitFailure.smallestEncoding) jpeg"
        let failure = ImageError.LimitFailure(.encodedSize, limit: 10, actual: 20, detail: detail)
        #expect(options(ImageError.limitExceeded(failure).toolMessage) == ["target-size"])
    }

    @Test("The brief reason of a failure consists of words without details and punctuation")
    func briefReasons() throws {
        let url = try #require(URL(string: "https://a.example/b.png?c=d"))
        let limit = ImageError.LimitFailure(.pixelCount, limit: 10, actual: 20)
        for (error, reason) in [
            (.request(.fileNotFound(path: "a.png")), "the file doesn't exist"),
            (.request(.fileUnreadable(path: "a.png", errno: EACCES)), "permission denied"),
            (
                .request(.rejected(reason: "the directory contains no images (use -r)")),
                "the directory contains no images (use -r)"
            ),
            (.cache(.systemCallFailed(operation: "Writing", path: "a", errno: ENOSPC)), "no space left on device"),
            (.cache(.systemCallFailed(operation: "Writing", path: "a", errno: EEXIST)), "the file exists"),
            (
                .network(ImageError.NetworkFailure(.cannotConnect, url: url, details: "Failed to connect")),
                "can't connect to the server"
            ),
            (
                .network(ImageError.NetworkFailure(.unacceptableStatusCode, url: url, statusCode: 404)),
                "the server responded with status 404"
            ),
            (.decoding(ImageError.DecodingFailure(.noData)), "the data is empty"),
            (.limitExceeded(limit), "the image has 20 pixels, but the limit is 10"),
            (.processing(.encodingFailed(format: .png, reason: "why")), "encoding as png failed"),
        ] as [(ImageError, String)] {
            #expect(error.briefReason == reason)
        }
    }

    @Test("Messages of other errors name options of the tool instead of properties")
    func otherErrors() throws {
        let url = try #require(URL(string: "https://a.example/b.png"))
        func network(_ reason: ImageError.NetworkFailure.Reason, _ details: String) -> ImageError {
            .network(ImageError.NetworkFailure(reason, url: url, details: details))
        }
        let missing = ImageError.DecodingFailure(.noDecoder, format: .svg)
        for (error, names) in [
            (.cache(.notInCache), ["cache-policy"]), (.cache(.exportNotDecrypted), ["decrypt"]),
            (network(.addressNotAllowed, ""), ["public-only"]),
            (network(.tooManyRedirects, "the limit is 3"), ["max-redirs"]),
            (network(.tooManyRedirects, "the limit is 20"), []), (network(.tooManyRedirects, "redirect loop"), []),
            (.decoding(ImageError.DecodingFailure(.allDecodersFailed([missing, missing]))), ["version", "version"]),
            (.decoding(ImageError.DecodingFailure(.isolationUnavailable("there is none"), format: .svg)), []),
        ] as [(ImageError, [String])] {
            #expect(options(error.toolMessage) == names, "\(error.toolMessage)")
            for name in names {
                let isKnown = name == "version" || Commands.all.contains { $0.options.contains { $0.name == name } }
                #expect(isKnown, "\(name)")
            }
            let property = error.toolMessage.contains(/`|[a-z]+[A-Z]|register|package trait|address policy/)
            #expect(!property, "\(error.toolMessage)")
        }
    }
}
