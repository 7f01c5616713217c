// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCommand
import WebImagePrograms

/// The command `webimage info`.
struct InfoCommand: Sendable {
    private let inputs: [String]
    private let json: Bool
    private let console: Console
    private let interruption: SignalHandler

    struct Options {
        let inputs: [String]
        let json: Bool

        init(_ arguments: Arguments) throws(UsageError) {
            try arguments.expectOperands(1...Int.max, "FILE or URL")
            inputs = arguments.operands
            json = arguments.has("json")
        }
    }

    init(_ options: Options, _ console: Console, _ interruption: SignalHandler) {
        inputs = options.inputs
        json = options.json
        self.console = console
        self.interruption = interruption
    }

    func run() async -> Int32 {
        await interruption.cancelling { [self] in
            var status = ExitStatus.ok
            for (index, input) in inputs.enumerated() where !Task.isCancelled {
                let record = await record(input)
                if record.error != nil { status = ExitStatus.failed }
                if index > 0, !json { console.print("") }
                console.print(json ? [record.json.text] : record.lines(console.out))
            }
            return status
        }
    }

    private func record(_ input: String) async -> InfoRecord {
        var record = InfoRecord(source: input)
        do throws(ImageError) {
            let data = try await bytes(of: input)
            record.bytes = data.count
            record = try await BlockingWork.run { [record] in ImageProperties.read(data, into: record) }
        } catch {
            record.error = error
        }
        return record
    }

    private func bytes(of input: String) async throws(ImageError) -> Data {
        guard Inputs.hasScheme(input), !FileManager.default.fileExists(atPath: input) else {
            return try await BlockingWork.run { () throws(ImageError) in try Files.read(input) }
        }
        let url = try Inputs.url(input)
        let manager = ImageManager {
            $0.diskCache = nil
            $0.downloader.userAgent = "webimage/\(WebImageTool.version)"
        }
        var request = ImageRequest(url: url)
        // The command reads only the header, so accept any image size.
        var limits = ImageLimits.unlimited
        limits.maxEncodedBytes = ImageLimits.desktop.maxEncodedBytes
        request.limits = limits
        let result: Result<Data, ImageError>
        do throws(ImageError) {
            result = .success(try await manager.data(for: request))
        } catch {
            result = .failure(error)
        }
        await manager.shutdown()
        return try result.get()
    }
}

/// A namespace for reading the properties of an image.
enum ImageProperties {
    /// Adds the header to the record. If only the coder knows the frames, their durations, or the color profile, the
    /// image is decoded. Blocks.
    static func read(_ data: Data, into record: InfoRecord) -> InfoRecord {
        var record = record
        do throws(ImageError) {
            let probe = try probe(data)
            record.probe = probe
            let coders = ImageCoderRegistry.standard
            let needsCoder = probe.hasICCProfile || probe.frameCount > 1 || !probe.frameCountIsExact
            guard needsCoder, coders.canDecode(probe.format) else { return record }
            // The pixels aren't used, so decode at a small size.
            let options = ImageDecodingOptions(size: .fit(width: 16, height: 16), allowsPartialData: true)
            let image = try coders.decode(data, options: options, context: ImageProcessingContext())
            record.timeline = image.animation?.timeline
            record.colorProfile = image.metadata.iccProfile.flatMap(ICCDescription.text)
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
