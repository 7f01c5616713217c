// SPDX-License-Identifier: MIT

import WebImageCore

extension ImageError {
    /// The name of the case, such as `cancelled` or `network.timedOut`, for the JSON output.
    package var caseName: String {
        switch self {
        case .cancelled: "cancelled"
        case .request(let failure): "request.\(Self.label(failure))"
        case .network(let failure): "network.\(Self.label(failure.reason))"
        case .cache(let failure): "cache.\(Self.label(failure))"
        case .decoding(let failure): "decoding.\(Self.label(failure.reason))"
        case .processing(let failure): "processing.\(Self.label(failure))"
        case .limitExceeded(let failure): "limitExceeded.\(Self.label(failure.kind))"
        }
    }

    /// Returns the name of an enumeration case without its associated values.
    private static func label<Value>(_ value: Value) -> String {
        String(String(describing: value).prefix { $0 != "(" })
    }
}

extension JSONValue {
    /// Creates an object such as `{"case": …, "code": …, "message": …, "httpStatus": …}`. URLs in the message contain
    /// neither user information nor queries.
    package init(_ error: ImageError) {
        self = [
            "case": .string(error.caseName), "code": .int(error.code),
            "message": .string(Redaction.text(error.toolMessage)),
            "httpStatus": JSONValue(error.httpStatusCode),
        ]
    }
}
