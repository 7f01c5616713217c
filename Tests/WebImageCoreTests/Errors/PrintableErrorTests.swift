// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore

@Suite("Texts of errors that come from hostile files")
struct PrintableErrorTests {
    /// A text that clears a terminal, sets its title, and reverses text.
    private static let hostile = "name \u{1B}[2J\u{9B}31m\u{1B}]0;x\u{07} \u{202E}txt\u{2066}\u{2028}\u{7F}\0\r\nok"
    private static let safe =
        "name \u{FFFD}[2J\u{FFFD}31m\u{FFFD}]0;x\u{FFFD} \u{FFFD}txt\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}  ok"

    private func isPrintable(_ text: String) -> Bool {
        !text.unicodeScalars.contains {
            [.control, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
                || (0x202A...0x202E).contains($0.value) || (0x2066...0x2069).contains($0.value)
        }
    }

    @Test("The reason of a decoding failure has no control characters, and other characters remain")
    func reasons() {
        let reasons: [ImageError.DecodingFailure.Reason] = [
            .corrupted(Self.hostile), .unsupportedFeature(Self.hostile), .contradictsHeader(Self.hostile),
            .decoderCrashed(Self.hostile), .isolationUnavailable(Self.hostile),
        ]
        for reason in reasons {
            let failure = ImageError.DecodingFailure(reason, format: .heif)
            switch failure.reason {
            case .corrupted(let text), .unsupportedFeature(let text), .contradictsHeader(let text),
                .decoderCrashed(let text), .isolationUnavailable(let text):
                #expect(text == Self.safe)
            default: Issue.record("the kind of the failure changed")
            }
            let error = ImageError.decoding(.allDecodersFailed([failure]))
            #expect(isPrintable(error.message) && isPrintable("\(error)") && error.message.contains(Self.safe))
        }
        let plain = "größer 画像 “é” 👩‍👩‍👧 {}\u{301}"
        #expect(ImageError.DecodingFailure(.corrupted(plain)).reason == .corrupted(plain))
    }

    @Test("The messages of all families have no control characters")
    func messages() {
        let errors: [ImageError] = [
            .processing(.encodingFailed(format: .tiff, reason: Self.hostile)),
            .processing(.transformerFailed(transformer: Self.hostile, reason: Self.hostile)),
            .processing(.noEncoder(ImageFormat(rawValue: Self.hostile))),
            .request(.invalidOption(name: "coder", value: Self.hostile)),
            .cache(.corruptEntry(reason: Self.hostile)),
            .decoding(.notAnImage(.html, status: 200, contentType: Self.hostile)),
            .decoding(.noDecoder(ImageFormat(rawValue: Self.hostile))),
            .limitExceeded(ImageError.LimitFailure(.metadataSize, limit: 1, actual: 2, detail: Self.hostile)),
        ]
        for error in errors {
            #expect(isPrintable(error.message), "\(error.code)")
            #expect(error.localizedDescription == error.message)
            #expect(isPrintable("\(error)"), "\(error.code)")
        }
    }

    @Test("Invalid UTF-8 from a library becomes replacement characters")
    func encoding() {
        let bytes: [CChar] = [0x61, -1, -64, -128, 0x1B, 0x62, 0]
        let text = bytes.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
        let error = ImageError.decoding(.corrupted(format: .jpeg, reason: text))
        #expect(isPrintable(error.message))
        #expect(error.message.hasPrefix("The") && error.message.contains("a\u{FFFD}") && error.message.contains("b"))
    }
}
