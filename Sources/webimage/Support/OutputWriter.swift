// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImage
import WebImageCommand
import WebImageConcurrency
import WebImagePrograms

/// A writer of the output files of a command. It never overwrites an input, and it writes each path only once. The
/// class is thread-safe.
final class OutputWriter: Sendable {
    private struct Claims {
        /// The number of the input to which each path belongs.
        var owners: [String: Int] = [:]
        var reserved: Set<String> = []
    }

    let plan: OutputPlan
    private let inputs: Set<FileIdentity>
    private let claims = Lock(Claims())
    private let count = Atomic<Int>(0)

    /// Creates a writer. `inputs` are the inputs of the command, whose files are protected. Blocks.
    init(_ plan: OutputPlan, inputs: [ImageInput]) {
        self.plan = plan
        self.inputs = Set(inputs.compactMap { input in (try? input.url).flatMap { FileIdentity($0) } })
    }

    var writtenCount: Int { count.load(ordering: .relaxed) }

    /// Claims the paths of the outputs for the first inputs that have them, so that the result doesn't depend on the
    /// order in which concurrent work ends. Paths that contain the size of the output, or an unknown format, aren't
    /// claimed. The extension is `nil` if the output format depends on the image.
    func claim(_ facts: [OutputFacts], fileExtension: String?) {
        if case .file = plan.destination { return }
        guard !plan.isStandardOutput, !plan.needsSize, fileExtension != nil || !plan.needsFormat else { return }
        claims.withLock { claims in
            for var facts in facts {
                facts.fileExtension = fileExtension ?? ""
                let path = Self.normalized(plan.path(facts))
                if claims.owners[path] == nil { claims.owners[path] = facts.index }
            }
        }
    }

    private static func normalized(_ path: String) -> String { URL(filePath: path).standardizedFileURL.path() }

    /// Reserves a path for an output of the input with this number. Returns `false` if the file exists and is
    /// preserved. Throws an ``ImageError`` if the path is an input, the output of another input, or an existing file.
    /// Blocks.
    func reserve(_ path: String, index: Int) throws(ImageError) -> Bool {
        if path == "-" { return true }
        let name = Self.normalized(path)
        let isFirst = claims.withLock { claims in
            let owner = claims.owners[name] ?? index
            claims.owners[name] = owner
            return owner == index && claims.reserved.insert(name).inserted
        }
        let status = Files.status(path)
        // Devices and pipes can be written several times.
        if let status, status.st_mode & S_IFMT != S_IFREG { return true }
        guard isFirst else {
            throw .request(
                .rejected(
                    reason: "the file \(path) is also the output of another input (use {name} or {n} in the output)"))
        }
        guard status != nil else { return true }
        if FileIdentity(path: path).map(inputs.contains) == true {
            throw .request(.rejected(reason: "the output \(path) is an input (use another directory or --format)"))
        }
        switch plan.existing {
        case .overwrite: return true
        case .skip: return false
        case .fail: throw .cache(.systemCallFailed(operation: "Writing", path: path, errno: EEXIST))
        }
    }

    /// Writes a file whose path was reserved. Blocks.
    func write(_ data: Data, to path: String) throws(ImageError) { try write(parts: CollectionOfOne(data), to: path) }

    /// Writes a file whose path was reserved, in parts that needn't be in memory at the same time. Blocks.
    func write(parts: some Sequence<Data>, to path: String) throws(ImageError) {
        if plan.makesDirectories, path != "-", let slash = path.lastIndex(of: "/"), slash != path.startIndex {
            try Files.makeDirectory(String(path[..<slash]))
        }
        try Files.write(parts: parts, to: path, overwrites: plan.existing == .overwrite)
        count.add(1, ordering: .relaxed)
    }

    func interruptionMessage(of inputs: [ImageInput]) -> InterruptionMessage {
        let written = writtenCount
        let images = inputs.count == 1 ? "" : " of \(inputs.count) images"
        let files = NumberFormatting.count(written, "file") + images
        let text = written == 0 ? "No file was written." : "\(files) \(written == 1 ? "was" : "were") written and kept."
        return InterruptionMessage(text, inputs)
    }
}
