// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCommand
import WebImageCore
import WebImagePrograms

/// The result of a command for one input, with the short form of the input.
struct LabeledRecord: Sendable {
    let label: String
    var record: ImageRecord

    init(_ label: String, _ record: ImageRecord) {
        self.label = label
        self.record = record
    }
}

/// An object that prints the results of a command that writes files, and determines the exit status. It's used by one
/// task at a time.
final class RecordReporter {
    private(set) var status = ExitStatus.ok
    private let console: Console
    private let json: Bool
    /// Whether standard output contains an image.
    private let writesOutput: Bool

    init(_ console: Console, json: Bool, writesOutput: Bool) {
        self.console = console
        self.json = json
        self.writesOutput = writesOutput
    }

    /// Prints the record as JSON or as text, and the notes and the error to standard error.
    func report(_ result: LabeledRecord) {
        let record = result.record
        if json {
            console.printJSON(record.json())
        } else if !writesOutput {
            console.print(record.lines(label: result.label))
        }
        for note in record.notes { console.note("\(result.label): \(note)") }
        guard let error = record.error else { return }
        status = ExitStatus.failed
        console.report(result.label, error)
    }
}

extension ImageRecord {
    /// Copies the properties of a decoded image and of the original image.
    mutating func read(_ image: DecodedImage, byteCount: Int) {
        format = image.format?.rawValue
        let size = image.metadata.orientation.upright(image.metadata.storedSize)
        width = size.width
        height = size.height
        frames = image.frameCount
        self.byteCount = byteCount
    }
}

extension ImageRecord {
    /// Adds notes about the gamut and the dynamic range of the source that the files don't have, although the arguments
    /// don't request it. `data` is the encoded source, `decoded` is its image, and `files` are the encoded outputs.
    mutating func addLosses(of data: Data, _ decoded: DecodedImage, as encoding: ImageEncoding, in files: [Data]) {
        notes += OutputLosses.colorNotes(of: data, decoded, as: encoding, in: files)
    }
}

extension OutputFacts {
    func with(_ format: ImageFormat) -> OutputFacts {
        var facts = self
        facts.fileExtension = format.fileExtension
        return facts
    }
}
