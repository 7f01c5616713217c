// SPDX-License-Identifier: MIT

import WebImageCore

/// The destination of the images that a command writes, according to `--output` and `--output-dir`.
package struct OutputPlan: Sendable, Hashable {
    /// The destination.
    package enum Destination: Sendable, Hashable {
        case standardOutput
        /// A file for a single image.
        case file(String)
        /// A directory. The names are those of the inputs.
        case directory(String)
        case template(OutputTemplate)
    }

    package let destination: Destination
    /// The rule for existing files.
    package let existing: ExistingFiles

    /// The rule for existing files.
    package enum ExistingFiles: Sendable, Hashable {
        case fail
        case overwrite
        case skip
    }

    /// Creates a plan.
    ///
    /// - Parameters:
    ///   - output: The value of `--output`, or the operand that specifies the output, or `nil`.
    ///   - directory: The value of `--output-dir`, or `nil`.
    ///   - isSingle: Whether a single image was specified by its name.
    ///   - existing: The rule for existing files.
    ///   - isDirectory: A function that indicates whether a path is that of an existing directory.
    ///   - isFile: A function that indicates whether a path is that of an existing regular file.
    /// - Throws: A ``UsageError`` if the output can't be used for several images or contains an unknown placeholder.
    /// - Returns: `nil` if neither `output` nor `directory` was specified.
    package init?(
        output: String?, directory: String?, isSingle: Bool, existing: ExistingFiles, isDirectory: (String) -> Bool,
        isFile: (String) -> Bool
    ) throws(UsageError) {
        self.existing = existing
        if let directory {
            destination = .directory(Self.trimmed(directory))
        } else if let output {
            if output.isEmpty { throw UsageError("--output: the name is empty (use a file, a directory, or -)") }
            if let template = try OutputTemplate(output) {
                destination = .template(template)
            } else if output == "-" {
                guard isSingle else {
                    throw UsageError("several inputs can’t be written to standard output (use --output-dir)")
                }
                destination = .standardOutput
            } else if output.hasSuffix("/") || isDirectory(output) {
                destination = .directory(Self.trimmed(output))
            } else if isSingle {
                destination = .file(output)
            } else if isFile(output) {
                throw UsageError(
                    "several inputs can’t be written to the file “\(output)” (use --output-dir, or a name with {name} or "
                        + "{n})")
            } else if Self.looksLikeFile(output) {
                throw UsageError(
                    "several inputs can’t be written to the file “\(output)” (use --output-dir, a directory such as "
                        + "“\(output)/”, or a name with {name} or {n})")
            } else {
                destination = .directory(output)
            }
        } else {
            return nil
        }
    }

    /// Returns the path for an image.
    package func path(_ facts: OutputFacts) -> String {
        switch destination {
        case .standardOutput: return "-"
        case .file(let path): return path
        case .template(let template): return template.path(facts)
        case .directory(let directory):
            let folder = facts.folder.isEmpty ? "" : "\(facts.folder)/"
            let separator = directory.hasSuffix("/") ? "" : "/"
            return "\(directory)\(separator)\(folder)\(facts.name).\(facts.fileExtension)"
        }
    }

    /// The format that the extension of the output names, or `nil` if it names none.
    package var format: ImageFormat? {
        switch destination {
        case .standardOutput, .directory: nil
        case .file(let path): ImageFormat(fileName: path)
        case .template(let template): ImageFormat(fileName: template.text)
        }
    }

    /// Whether the paths depend on the size of the output.
    package var needsSize: Bool {
        guard case .template(let template) = destination else { return false }
        return template.text.contains("{width}") || template.text.contains("{height}")
    }

    /// Whether the paths depend on the format of the output.
    package var needsFormat: Bool {
        switch destination {
        case .standardOutput, .file: false
        case .directory: true
        case .template(let template): template.needsFormat
        }
    }

    /// Whether missing parent directories of the output files are created.
    package var makesDirectories: Bool {
        switch destination {
        case .standardOutput, .file: false
        case .directory, .template: true
        }
    }

    /// Whether the images are written to standard output.
    package var isStandardOutput: Bool { destination == .standardOutput }

    /// Removes slashes at the end, so that the printed paths have single slashes.
    private static func trimmed(_ path: String) -> String {
        var path = path
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        return path
    }

    /// Returns whether the last component of a path has an extension.
    static func looksLikeFile(_ path: String) -> Bool {
        let name = path.split(separator: "/").last ?? ""
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return false }
        let suffix = name[name.index(after: dot)...]
        return (1...5).contains(suffix.count) && suffix.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
    }
}

extension Arguments {
    /// The rule for existing files, which `--overwrite` and `--no-clobber` specify.
    package var existingFiles: OutputPlan.ExistingFiles {
        get throws(UsageError) {
            switch (has("overwrite"), has("no-clobber")) {
            case (true, true): throw UsageError("--overwrite and --no-clobber can’t be combined")
            case (true, false): .overwrite
            case (false, true): .skip
            case (false, false): .fail
            }
        }
    }

    /// Throws an error if `--output` and `--output-dir` are combined.
    package func checkOutputs() throws(UsageError) {
        if has("output"), has("output-dir") { throw UsageError("--output and --output-dir can’t be combined") }
        _ = try existingFiles
    }
}
