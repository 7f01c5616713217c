// SPDX-License-Identifier: MIT

/// An error that describes an invalid list of transformers.
package struct TransformListError: Error, Sendable, Hashable {
    /// The position of the invalid transformer in the list, starting at 1.
    package let position: Int
    package let problem: TransformProblem

    /// The message for the user, without a period.
    package var message: String { "--transform, item \(position): \(problem)" }
}

/// The reason that a transformer is invalid.
package enum TransformProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// A transformer in the list, or the whole list, is empty.
    case empty
    /// The list has too many transformers.
    case tooMany(limit: Int)
    /// No transformer has this name.
    case unknown(name: String)
    /// A required value is missing.
    case missing(name: String, parameter: String)
    /// There are too many values.
    case unexpected(name: String, value: String)
    /// A value is invalid.
    case invalid(name: String, parameter: String, value: String, expected: String)

    /// The message for the user, without a period.
    package var description: String {
        switch self {
        case .empty: "the name is missing"
        case .tooMany(let limit): "the list has too many transformers (use at most \(limit))"
        case .unknown(let name):
            "unknown transformer “\(name)” (use one of \(TransformList.names.joined(separator: ", ")))"
        case .missing(let name, let parameter): "\(name): the \(parameter) is missing"
        case .unexpected(let name, let value): "\(name): unexpected value “\(value)”"
        case .invalid(let name, let parameter, let value, let expected):
            "\(name): the \(parameter) “\(value)” isn’t valid (use \(expected))"
        }
    }
}
