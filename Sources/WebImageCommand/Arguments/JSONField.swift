// SPDX-License-Identifier: MIT

/// The description of a member of the objects that `--json` prints.
package struct JSONField: Sendable, Hashable {
    /// The type of a value.
    package enum Kind: String, Sendable, Hashable {
        case boolean
        case number
        case string
        case array
        case object
    }

    package let name: String
    package let kind: Kind
    /// Whether the value can be `null`.
    package let isOptional: Bool
    /// Whether the member exists only with certain options.
    package let isConditional: Bool
    /// The meaning, in one or two sentences.
    package let meaning: String

    package init(
        _ name: String, _ kind: Kind, isOptional: Bool = false, isConditional: Bool = false, _ meaning: String
    ) {
        self.name = name
        self.kind = kind
        self.isOptional = isOptional
        self.isConditional = isConditional
        self.meaning = meaning
    }

    /// The type as text, such as `string or null`.
    package var typeText: String { kind.rawValue + (isOptional ? " or null" : "") }

    /// The members that the objects of every command begin with.
    package static let common = [
        JSONField("command", .string, "The name of the command."),
        JSONField("index", .number, "The number of the input, from 0."),
        JSONField("input", .string, "The path as specified, or the URL without credentials and values of the query."),
        JSONField("status", .string, "ok, failed, or skipped."),
        JSONField("format", .string, isOptional: true, "The format of the input, such as jpeg."),
        JSONField("width", .number, isOptional: true, "The width of the input in pixels."),
        JSONField("height", .number, isOptional: true, "The height of the input in pixels."),
        JSONField("frames", .number, isOptional: true, "The number of frames of the input."),
        JSONField("byteCount", .number, isOptional: true, "The size of the encoded input in bytes."),
        JSONField(
            "outputs", .array,
            "The files that were written, or that --no-clobber preserved: objects with path, format, width, height, "
                + "and byteCount. The path is - for standard output."),
        JSONField(
            "notes", .array,
            "Texts about corrupt inputs, and about losses that no option requests, such as clipped colors."),
        JSONField(
            "error", .object, isOptional: true,
            "The error: an object with case (such as network.timedOut), code, message, and httpStatus (a number or "
                + "null)."),
    ]
}

extension JSONField {
    /// Returns the members of all commands, with `extra` members before the error.
    package static func with(_ extra: [JSONField]) -> [JSONField] {
        Array(common.dropLast()) + extra + common.suffix(1)
    }
}
