// SPDX-License-Identifier: MIT

import WebImageCore

/// The errors of coders. An error of another family can't come from a coder.
extension ImageError: BinaryCodable {
    package init(from reader: inout BinaryReader) throws(MalformedData) {
        let code = try reader.int()
        switch code {
        case 1001: self = .cancelled
        case 1004: self = .request(.invalidSize(try reader.errorText()))
        case 1008: self = .request(.frameNotFound(index: try reader.value(), frameCount: try reader.value()))
        case 1009: self = .request(.invalidOption(name: try reader.errorText(), value: try reader.errorText()))
        case 4001...4010: self = .decoding(try Self.decodingFailure(code, &reader))
        case 5001:
            self = .processing(
                .invalidParameter(
                    transformer: try reader.errorText(), parameter: try reader.errorText(),
                    value: try reader.errorText()))
        case 5002: self = .processing(.regionOutsideImage(transformer: try reader.errorText()))
        case 5004: self = .processing(.noEncoder(try reader.value()))
        case 5005: self = .processing(.encodingFailed(format: try reader.value(), reason: try reader.errorText()))
        default:
            guard let kind = LimitFailure.Kind(rawValue: code) else {
                throw MalformedData("the error \(code) is unknown")
            }
            self = .limitExceeded(
                LimitFailure(
                    kind, limit: try reader.value(), actual: try reader.value(), detail: try reader.errorText()))
        }
    }

    private static func decodingFailure(
        _ code: Int, _ reader: inout BinaryReader
    ) throws(MalformedData) -> DecodingFailure {
        let format: ImageFormat? = try reader.optional()
        let reason: DecodingFailure.Reason
        switch code {
        case 4001: reason = .noData
        case 4002: reason = .unknownFormat
        case 4003: reason = .notAnImage
        case 4004: reason = .noDecoder
        case 4005:
            let received = try reader.int()
            let expected: Int? = try reader.optional()
            reason = .truncated(receivedBytes: received, expectedBytes: expected)
        case 4006: reason = .corrupted(try reader.errorText())
        case 4007: reason = .unsupportedFeature(try reader.errorText())
        case 4009: reason = .contradictsHeader(try reader.errorText())
        case 4010: reason = .outOfMemory(byteCount: try reader.value())
        default: throw MalformedData("a coder doesn't throw the error \(code)")
        }
        return DecodingFailure(reason, format: format)
    }

    package func write(to writer: inout BinaryWriter) {
        switch self {
        case .cancelled, .network, .cache: writer.put(1001)
        case .request(let failure): failure.write(to: &writer)
        case .processing(let failure): failure.write(to: &writer)
        case .decoding(let failure): failure.write(to: &writer)
        case .limitExceeded(let failure):
            writer.put(failure.code)
            writer.put(failure.limit)
            writer.put(failure.actual)
            writer.put(failure.detail)
        }
    }
}

extension BinaryReader {
    /// Reads the text of an error, shortened and without control characters, because it comes from an untrusted process
    /// and may be written to a terminal.
    fileprivate mutating func errorText() throws(MalformedData) -> String {
        PrintableText.text(String(String.UnicodeScalarView(try text(limit: 4_096).unicodeScalars.prefix(500))))
    }
}

extension BinaryWriter {
    fileprivate mutating func put(code: Int, _ texts: String...) {
        put(code)
        for text in texts { put(String(text.prefix(500))) }
    }
}

extension ImageError.RequestFailure {
    fileprivate func write(to writer: inout BinaryWriter) {
        switch self {
        case .invalidSize(let text): writer.put(code: code, text)
        case .invalidOption(let name, let value): writer.put(code: code, name, value)
        case .frameNotFound(let index, let count):
            writer.put(code)
            writer.put(index)
            writer.put(count)
        default: writer.put(code: 1009, "coder", message)
        }
    }
}

extension ImageError.ProcessingFailure {
    fileprivate func write(to writer: inout BinaryWriter) {
        switch self {
        case .invalidParameter(let name, let parameter, let value): writer.put(code: code, name, parameter, value)
        case .regionOutsideImage(let name): writer.put(code: code, name)
        case .transformerFailed(let name, let reason): writer.put(code: 5001, name, "image", reason)
        case .noEncoder(let format):
            writer.put(code)
            writer.put(format)
        case .encodingFailed(let format, let reason):
            writer.put(code)
            writer.put(format)
            writer.put(String(reason.prefix(500)))
        }
    }
}

extension ImageError.DecodingFailure {
    fileprivate func write(to writer: inout BinaryWriter) {
        func head(_ code: Int) {
            writer.put(code)
            writer.put(format)
        }
        switch reason {
        case .noData, .unknownFormat, .notAnImage, .noDecoder: head(code)
        case .truncated(let received, let expected):
            head(code)
            writer.put(received)
            writer.put(expected)
        case .corrupted(let text), .unsupportedFeature(let text), .contradictsHeader(let text):
            head(code)
            writer.put(String(text.prefix(500)))
        case .outOfMemory(let count):
            head(code)
            writer.put(count)
        // No coder in a helper throws these errors, so the protocol has no codes for them.
        case .allDecodersFailed, .decoderCrashed, .isolationUnavailable, .decoderSuspended:
            head(4006)
            writer.put(String(message.prefix(500)))
        }
    }
}
