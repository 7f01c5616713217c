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
        case .network(let failure): networkMessage(failure)
        case .cache(.notInCache): "The image isn't in the cache, and “--cache-policy cache-only” allows no download."
        case .cache(.exportNotDecrypted):
            "The cache is encrypted, and an export isn't. Use --decrypt to write the entries unencrypted."
        case .decoding(let failure): decodingMessage(failure)
        case .processing(.noEncoder(let format)):
            "This build can't encode \(format). “webimage --version” lists the formats."
        case .limitExceeded(let failure): limitMessage(failure)
        default: message
        }
    }

    /// The reason of the failure in a few words that follow a colon, without details, remedies, and a period.
    package var briefReason: String {
        let reason: String
        switch self {
        case .cache(.systemCallFailed(_, _, let code)):
            reason = code == EEXIST ? "the file exists" : String(cString: strerror(code))
        case .request(.fileUnreadable(_, let code)) where code != EINVAL && code != ESTALE:
            reason = String(cString: strerror(code))
        case .request(.fileNotFound): reason = "the file doesn't exist"
        default: reason = Self.beginning(of: shortToolMessage)
        }
        let isWord = reason.dropFirst().first?.isLowercase ?? true
        return isWord ? reason.prefix(1).lowercased() + reason.dropFirst() : reason
    }

    /// Returns the first sentence of a message, or its beginning up to a colon, without the punctuation.
    private static func beginning(of message: String) -> String {
        let ends = [": ", ". "].compactMap { message.range(of: $0)?.lowerBound }
        let text = message[..<(ends.min() ?? message.endIndex)]
        return String(text.hasSuffix(".") ? text.dropLast() : text)
    }

    /// The tool's message without the URL, for use next to the URL.
    package var shortToolMessage: String { withoutURL(toolMessage) }

    private func withoutURL(_ message: String) -> String {
        guard case .network(let failure) = self else { return message }
        return message.replacing(SecretNames.removed(from: " [\(failure.url.absoluteString)]"), with: "")
    }

    private func networkMessage(_ failure: NetworkFailure) -> String {
        switch failure.reason {
        case .addressNotAllowed:
            message.replacing("The address policy doesn't allow", with: "With --public-only, webimage doesn't use")
        case .tooManyRedirects where failure.details.hasPrefix("the limit is") && !failure.details.hasSuffix(" 20"):
            // The limit can't exceed 20.
            "\(message) Use a larger --max-redirs."
        default: message
        }
    }

    private func decodingMessage(_ failure: DecodingFailure) -> String {
        switch failure.reason {
        case .noDecoder:
            "This build can't decode \(failure.format.map { "\($0)" } ?? "the data"). "
                + "“webimage --version” lists the formats."
        case .allDecodersFailed(let errors): errors.map { ImageError.decoding($0).toolMessage }.joined(separator: " ")
        case .isolationUnavailable:
            message.replacing(/`webimage-decoder`.*/, with: "webimage-decoder next to webimage.")
        default: message
        }
    }

    /// Returns the message of an exceeded limit with the options that change the limit.
    private func limitMessage(_ failure: LimitFailure) -> String {
        guard let remedy = Self.remedy(failure) else { return message }
        // The remedy of the library, which names a property, is the second sentence.
        let end = message.contains("`") ? message.range(of: ". ", options: .backwards)?.lowerBound : nil
        return (end.map { "\(message[..<$0])." } ?? message) + " \(remedy)"
    }

    /// Returns a sentence with the options that change the limit, or `nil` for a limit that never changes.
    private static func remedy(_ failure: LimitFailure) -> String? {
        let option: String
        switch failure.kind {
        case .encodedSize where failure.concernsEncoding: return "Use a larger --target-size."
        case .encodedSize: option = "max-filesize"
        case .pixelCount: option = "max-pixels"
        case .sourcePixelCount: option = "max-source-pixels"
        case .dimension: option = "max-side"
        case .frameCount: option = "max-frames"
        case .animationPixelCount: option = "max-animation-pixels"
        case .animationDecoderCount: option = "max-animation-decoders"
        case .decodedSize: option = "max-memory"
        case .decodingTime: option = "max-decoding-time"
        case .encodingTime: option = "max-encoding-time"
        case .implausibleSize: option = "allow-implausible"
        case .metadataSize, .overloaded, .userDataSize, .unresponsiveThreadCount: return nil
        }
        return "Use --\(option) or --no-limits."
    }
}
