// SPDX-License-Identifier: MIT

/// Why a list of transformers cannot be understood.
package enum TransformListError: Error, Sendable, Hashable {
    /// Nothing between two commas, or nothing at all.
    case empty
    /// More transformers than a list may have.
    case tooMany(limit: Int)
    /// No transformer has this name.
    case unknown(name: String)
    /// A value that the transformer needs is not there.
    case missing(name: String, parameter: String)
    /// A value too many.
    case unexpected(name: String, value: String)
    /// A value that cannot be what it has to be.
    case invalid(name: String, parameter: String, value: String, expected: String)

    /// A sentence without a full stop, for the person at the terminal.
    package var message: String {
        switch self {
        case .empty: "--transform has an empty place where a name must be"
        case .tooMany(let limit): "--transform takes at most \(limit) transformers"
        case .unknown(let name):
            "--transform does not know “\(name)”; there are \(TransformList.names.joined(separator: ", "))"
        case .missing(let name, let parameter): "--transform \(name) needs a \(parameter)"
        case .unexpected(let name, let value): "--transform \(name) takes no further value: “\(value)”"
        case .invalid(let name, let parameter, let value, let expected):
            "--transform \(name): the \(parameter) is \(expected), not “\(value)”"
        }
    }
}
