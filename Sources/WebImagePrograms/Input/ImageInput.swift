// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCommand

/// An image that a command processes.
package struct ImageInput: Sendable, Hashable {
    /// The URL, the path, or `-` for standard input.
    package let text: String
    /// The directory of the file below the directory that was specified, such as `2024/june`. It's empty if the file
    /// itself was specified.
    package let folder: String
    /// Whether the file was found in a directory.
    package let isFromDirectory: Bool
    /// The reason why the images that the argument denotes can't be determined.
    package let failure: ImageError?

    package init(_ text: String, folder: String = "", isFromDirectory: Bool = false, failure: ImageError? = nil) {
        self.text = text
        self.folder = folder
        self.isFromDirectory = isFromDirectory
        self.failure = failure
    }

    /// The URL of the input. Throws an error of ``Inputs/url(_:)``, or ``failure``.
    package var url: URL {
        get throws(ImageError) {
            if let failure { throw failure }
            return try Inputs.resolved(text)
        }
    }

    /// The short form for messages: a path, or a URL without its scheme, credentials, query, and fragment.
    package var label: String {
        if text == "-" { return "standard input" }
        if text.lowercased().hasPrefix("data:") { return Redaction.text(text) }
        guard Inputs.hasScheme(text) else {
            return FileManager.default.fileExists(atPath: text) ? text : InputLabel.redacted(text)
        }
        // Text that isn't a valid URL can contain spaces, which end a URL in running text.
        return Inputs.shortName(Redaction.text(InputLabel.redacted(text)).replacing("?…", with: ""))
    }

    /// The name without its extension, for output names. The name of a file doesn't change. The name from a URL
    /// contains no unsafe characters.
    package var stem: String {
        guard let url = try? Inputs.resolved(text), url.isFileURL else {
            return (try? Inputs.resolved(text)).map { OutputNames.stem(of: $0) } ?? (text == "-" ? "stdin" : "image")
        }
        let name = url.lastPathComponent
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return name }
        return String(name[..<dot])
    }

    /// The directory of a file, or `.` for other inputs.
    package var directory: String {
        var path = text
        if let url = try? Inputs.resolved(text) {
            guard url.isFileURL else { return "." }
            if Inputs.hasScheme(text) { path = url.path(percentEncoded: false) }
        }
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}

/// The images that the arguments of a command denote.
package struct InputList: Sendable {
    /// The inputs, in the order of the arguments.
    package private(set) var inputs: [ImageInput] = []
    /// Notes for the user, such as about an added scheme.
    package private(set) var notes: [String] = []
    private let requiresImages: Bool
    /// Whether the arguments denote a single image by its name. Then `--output` names a file.
    package private(set) var isSingle = false

    /// Resolves arguments: URLs, paths of files and directories, patterns, `@FILE`, and `-`. Blocks.
    ///
    /// An argument that can't be resolved becomes an input with a ``ImageInput/failure``.
    ///
    /// - Parameters:
    ///   - operands: The arguments.
    ///   - lists: The files with further arguments, one per line. `-` means standard input.
    ///   - isRecursive: Whether subdirectories of directories are included.
    ///   - requiresImages: Whether a directory without images is a failure.
    package init(
        _ operands: [String], lists: [String] = [], isRecursive: Bool = false, requiresImages: Bool = true
    ) {
        self.requiresImages = requiresImages
        for operand in operands {
            if operand.hasPrefix("@"), operand != "@", !FileManager.default.fileExists(atPath: operand) {
                read(list: String(operand.dropFirst()), isRecursive)
            } else {
                add(operand, isRecursive)
            }
        }
        for list in lists { read(list: list, isRecursive) }
        guard operands.count == 1, lists.isEmpty, inputs.count == 1 else { return }
        let names = [operands[0], URLText.withoutIgnoredCharacters(operands[0])]
        isSingle = names.contains(inputs[0].text) || !notes.isEmpty
    }

    private mutating func read(list: String, _ isRecursive: Bool) {
        do throws(ImageError) {
            let data = try Files.readStream(list, limit: 64 << 20)
            // Editors of Windows write a byte order mark.
            let text = FileNameText.text(of: data.starts(with: [0xEF, 0xBB, 0xBF]) ? data.dropFirst(3) : data)
            let lines = text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
            for line in lines where !line.isEmpty && !line.hasPrefix("#") { add(line, isRecursive) }
        } catch {
            inputs.append(ImageInput(list, failure: error))
        }
    }

    private mutating func add(_ operand: String, _ isRecursive: Bool) {
        guard operand != "-" else { return inputs.append(ImageInput("-")) }
        if Inputs.isFileWithEscapes(operand) { return inputs.append(ImageInput(operand)) }
        if let directory = Inputs.directory(operand) {
            do throws(ImageError) {
                let files = try Inputs.images(inDirectory: directory, isRecursive: isRecursive)
                if files.isEmpty, requiresImages {
                    let hint = isRecursive ? "" : " (use -r for its subdirectories)"
                    throw .request(.rejected(reason: "the directory contains no images\(hint)"))
                }
                inputs += files.map { file in
                    let folder = file.lastIndex(of: "/").map { String(file[..<$0]) } ?? ""
                    let separator = directory.hasSuffix("/") ? "" : "/"
                    return ImageInput("\(directory)\(separator)\(file)", folder: folder, isFromDirectory: true)
                }
            } catch {
                inputs.append(ImageInput(operand, failure: error))
            }
            return
        }
        if FileManager.default.fileExists(atPath: operand) { return inputs.append(ImageInput(operand)) }
        if Inputs.hasScheme(operand) { return inputs.append(ImageInput(URLText.withoutIgnoredCharacters(operand))) }
        let matches = matches(of: operand)
        if !matches.isEmpty {
            for match in matches { add(match, isRecursive) }
        } else if let url = try? Inputs.url(operand) {
            let name = InputLabel.withoutUser(operand).prefix { $0 != "?" && $0 != "#" }
            notes.append("the file “\(name)” doesn’t exist, so \(url.scheme ?? "https"):// is added")
            inputs.append(ImageInput(url.absoluteString))
        } else {
            inputs.append(ImageInput(operand))
        }
    }

    /// Returns the paths that match a pattern. Adds a note if there are too many of them.
    private mutating func matches(of operand: String) -> [String] {
        guard operand.contains(where: { "*?[".contains($0) }) else { return [] }
        guard let pattern = RecursivePattern(operand, limit: Inputs.directoryLimit) else {
            return Inputs.matches(of: operand)
        }
        if pattern.isIncomplete {
            notes.append("“\(operand)” stands for more than \(Inputs.directoryLimit) files, so some are omitted")
        }
        return pattern.paths
    }
}
