// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

extension ImageError {
    /// The message without the URL, for use next to the URL.
    package var shortMessage: String { withoutURL(message) }

    /// The message for users of the tool, who can't change the code. It names options instead of properties.
    package var toolMessage: String {
        switch self {
        // The tool has no interceptors. These reasons are its own sentences.
        case .request(.rejected(let reason)): "\(reason.prefix(1).uppercased())\(reason.dropFirst())."
        case .decoding(let failure):
            if case .noDecoder = failure.reason {
                "This build can't decode \(failure.format.map { "\($0)" } ?? "the data"). "
                    + "“webimage --version” lists the formats."
            } else {
                message
            }
        case .processing(.noEncoder(let format)):
            "This build can't encode \(format). “webimage --version” lists the formats."
        case .limitExceeded(let failure): limitMessage(failure.kind)
        default: message
        }
    }

    /// The tool's message without the URL, for use next to the URL.
    package var shortToolMessage: String { withoutURL(toolMessage) }

    private func withoutURL(_ message: String) -> String {
        guard case .network(let failure) = self else { return message }
        return message.replacing(SecretNames.removed(from: " [\(failure.url.absoluteString)]"), with: "")
    }

    /// Returns the message of an exceeded limit with the options that change the limit.
    private func limitMessage(_ kind: LimitFailure.Kind) -> String {
        let remedy: String
        switch kind {
        case .encodedSize: remedy = "Use --max-filesize or --no-limits."
        case .pixelCount, .sourcePixelCount, .decodedSize, .animationPixelCount:
            remedy = "Use --max-pixels or --no-limits."
        case .dimension, .frameCount, .implausibleSize, .metadataSize, .decodingTime, .animationDecoderCount:
            remedy = "Use --no-limits."
        case .encodingTime, .overloaded, .userDataSize, .unresponsiveThreadCount: return message
        }
        // The remedy of the library, which names a property, is the second sentence.
        let end = message.contains("`") ? message.range(of: ". ", options: .backwards)?.lowerBound : nil
        return (end.map { "\(message[..<$0])." } ?? message) + " \(remedy)"
    }
}
