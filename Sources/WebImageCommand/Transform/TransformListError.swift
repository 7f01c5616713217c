// SPDX-License-Identifier: MIT

/// Where and why a list of transformers cannot be understood.
package struct TransformListError: Error, Sendable, Hashable {
    /// The place in the list, from 1.
    package let position: Int
    package let problem: TransformProblem

    /// A sentence without a full stop, for the person at the terminal.
    package var message: String { "--transform, place \(position): \(problem)" }
}

/// Why one transformer of a list cannot be understood.
package enum TransformProblem: Error, Sendable, Hashable, CustomStringConvertible {
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

    /// A sentence without a full stop.
    package var description: String {
        switch self {
        case .empty: "there is no name"
        case .tooMany(let limit): "no more than \(limit) transformers can be given"
        case .unknown(let name):
            "there is no “\(name)”; there are \(TransformList.names.joined(separator: ", "))"
        case .missing(let name, let parameter): "\(name) needs a \(parameter)"
        case .unexpected(let name, let value): "\(name) takes no further value: “\(value)”"
        case .invalid(let name, let parameter, let value, let expected):
            "\(name): the \(parameter) is \(expected), not “\(value)”"
        }
    }
}
