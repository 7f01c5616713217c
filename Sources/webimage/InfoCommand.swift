// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCodecs
import WebImageCommand
import WebImageCore
import WebImagePrograms

/// The command `webimage info`.
struct InfoCommand: Sendable {
    struct Options: Sendable {
        let inputs: InputArguments
        let json: Bool
        let exif: Bool
        let reader: ImageReader

        init(_ arguments: Arguments) throws(UsageError) {
            inputs = try InputArguments(arguments)
            json = arguments.has("json")
            exif = arguments.has("exif")
            reader = try ImageReader(arguments, readsOnlyHeaders: true)
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
            let run = await InputRun.resolve(options.inputs, console)
            if let error = await options.reader.preparationError(console) {
                return run.fail(json: options.json) { index, input in
                    var record = InfoRecord(label: input.label, input: input.text)
                    record.index = index
                    record.error = error
                    return record.json
                }
            }
            var status = ExitStatus.ok
            var isFirst = true
            var count = 0
            await run.each {
                await record($1, index: $0)
            } deliver: { record in
                if Task.isCancelled, record.error == .cancelled { return }
                if record.error == nil { count += 1 }
                if options.json {
                    console.printJSON(record.json)
                } else if record.error == nil || record.probe != nil {
                    if !isFirst { console.print("") }
                    isFirst = false
                    console.print(record.lines(console.out))
                }
                guard let error = record.error else { return }
                status = ExitStatus.failed
                console.report(record.label, error)
            }
            status = await options.reader.finished(status, console)
            if interruption.isBySignal {
                let message = InterruptionMessage(count, of: run.list.inputs, "read")
                console.writeError(message.text(kept: await options.reader.keptDownloads()))
            }
            return status
        }
    }

    private func record(_ input: ImageInput, index: Int) async -> InfoRecord {
        var record = InfoRecord(label: input.label, input: input.text)
        record.index = index
        do throws(ImageError) {
            let data = try await options.reader.data(input)
            record.bytes = data.count
            let (readsExif, coders) = (options.exif, options.reader.coders(for: input))
            record = try await BlockingWork.run(options.reader.limits) { [record] context in
                ImageProperties.read(data, into: record, readsExif: readsExif, coders, context)
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
    static func read(
        _ data: Data, into record: InfoRecord, readsExif: Bool, _ coders: ImageCoderRegistry,
        _ context: ImageProcessingContext
    ) -> InfoRecord {
        var record = record
        do throws(ImageError) {
            var probe = try probe(data)
            record.probe = probe
            record.details = ImageFileDetails(data: data)
            let isPNG = probe.format == .png || probe.format == .apng
            record.isDamaged = isPNG && !PNGCoder.hasValidChecks(data)
            record.gainMap = GainMapInfo.read(data, format: probe.format)
            if readsExif { record.exif = EmbeddedMetadata(reading: data).exif.map(ExifTags.list) ?? [] }
            let needsCoder = probe.hasICCProfile || probe.frameCount > 1 || !probe.frameCountIsExact
            guard needsCoder, coders.canDecode(probe.format) else { return record }
            // The pixels aren't used, so decode at a small size.
            let options = ImageDecodingOptions(size: .fit(width: 16, height: 16), allowsPartialData: true)
            let image = try coders.decode(data, options: options, context: context)
            record.timeline = image.animation?.timeline
            if image.metadata.isPartial { record.isDamaged = true }
            if image.animation == nil, context.limits.maxFrames > 1, Self.animatedFormats.contains(probe.format) {
                // The file is shown as a still image, for example because its animation violates the format.
                (probe.frameCount, probe.frameCountIsExact, probe.loopCount) = (1, true, 1)
                record.probe = probe
            }
            if let points = image.metadata.sourceCodePoints, points.primaries != 2 || points.transfer != 2 {
                // Only the decoder reads the code points of a profile.
                probe.codePoints = points
                record.probe = probe
            }
            record.colorProfile = image.metadata.iccProfile.flatMap { ICCDescription.text(of: [UInt8]($0)) }
        } catch {
            record.error = error
        }
        return record
    }

    /// The formats in which several images are the frames of an animation.
    private static let animatedFormats: Set<ImageFormat> = [.apng, .gif, .webp]

    private static func probe(_ data: Data) throws(ImageError) -> ImageInfo {
        guard !data.isEmpty else { throw .decoding(.noData) }
        guard let format = ImageFormat(sniffing: data) else { throw .decoding(.unknownFormat) }
        guard format.isImage else { throw .decoding(.notAnImage(format)) }
        return try ImageInfo(data: data)
    }
}
