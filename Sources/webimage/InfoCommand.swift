// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCommand
import WebImageCore
import WebImagePrograms

/// The command `webimage info`.
struct InfoCommand: Sendable {
    struct Options: Sendable {
        let inputs: [String]
        let json: Bool
        let exif: Bool
        let reader: ImageReader

        init(_ arguments: Arguments) throws(UsageError) {
            try arguments.expectOperands(1...Int.max, "FILE or URL")
            inputs = arguments.operands
            json = arguments.has("json")
            exif = arguments.has("exif")
            reader = ImageReader(
                try NetworkSetup(try NetworkArguments(arguments), operands: arguments.operands),
                cache: arguments.last("cache-dir"), isVerbose: arguments.has("verbose"), readsOnlyHeaders: true)
        }
    }

    private let options: Options
    private let console: Console
    private let interruption: SignalHandler

    init(_ options: Options, _ console: Console, _ interruption: SignalHandler) {
        self.options = options
        self.console = console
        self.interruption = interruption
    }

    func run() async -> Int32 {
        await interruption.cancelling { [self] in
            var status = ExitStatus.ok
            var isFirst = true
            for input in options.inputs where !Task.isCancelled {
                let record = await record(input)
                if options.json {
                    console.printJSON(record.json)
                } else if record.error == nil || record.probe != nil {
                    if !isFirst { console.print("") }
                    isFirst = false
                    console.print(record.lines(console.out))
                }
                guard let error = record.error else { continue }
                status = ExitStatus.failed
                if !Task.isCancelled { console.report("\(Inputs.shortName(input)): \(error)") }
            }
            return await options.reader.finished(status, console)
        }
    }

    private func record(_ input: String) async -> InfoRecord {
        let url = try? Inputs.url(input)
        let isURL = url.map { !$0.isFileURL } ?? Inputs.hasScheme(input)
        let source = isURL && !Inputs.hasScheme(input) ? url?.absoluteString ?? input : input
        var record = InfoRecord(source: source, isURL: isURL)
        do throws(ImageError) {
            let data = try await options.reader.data(input)
            record.bytes = data.count
            let readsExif = options.exif
            record = try await BlockingWork.run { [record] in
                ImageProperties.read(data, into: record, readsExif: readsExif)
            }
        } catch {
            record.error = error
        }
        return record
    }
}

/// A namespace for reading the properties of an image.
enum ImageProperties {
    /// Adds the header to the record, and the EXIF tags if they're requested. If only the coder knows the frames, their
    /// durations, or the color profile, the image is decoded. Blocks.
    static func read(_ data: Data, into record: InfoRecord, readsExif: Bool) -> InfoRecord {
        var record = record
        do throws(ImageError) {
            let probe = try probe(data)
            record.probe = probe
            if readsExif { record.exif = EmbeddedMetadata(reading: data).exif.map(ExifTags.list) ?? [] }
            let coders = ImageCoderRegistry.standard
            let needsCoder = probe.hasICCProfile || probe.frameCount > 1 || !probe.frameCountIsExact
            guard needsCoder, coders.canDecode(probe.format) else { return record }
            // The pixels aren't used, so decode at a small size.
            let options = ImageDecodingOptions(size: .fit(width: 16, height: 16), allowsPartialData: true)
            let image = try coders.decode(data, options: options, context: ImageProcessingContext())
            record.timeline = image.animation?.timeline
            record.colorProfile = image.metadata.iccProfile.flatMap { ICCDescription.text(of: [UInt8]($0)) }
        } catch {
            record.error = error
        }
        return record
    }

    private static func probe(_ data: Data) throws(ImageError) -> ImageInfo {
        guard !data.isEmpty else { throw .decoding(.noData) }
        guard let format = ImageFormat(sniffing: data) else { throw .decoding(.unknownFormat) }
        guard format.isImage else { throw .decoding(.notAnImage(format)) }
        return try ImageInfo(data: data)
    }
}
