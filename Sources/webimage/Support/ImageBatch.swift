// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCommand
import WebImageCore
import WebImagePrograms

/// A batch of images that are loaded with limited concurrency.
struct ImageBatch: Sendable {
    let manager: ImageManager
    let concurrency: Int

    /// Loads all `inputs`. Canceling the current task cancels the running loads and starts no further ones. Returns one
    /// row for each input that was started, in the order of the inputs.
    func run(
        inputs: [ImageInput], facts: [OutputFacts], load: ImageBatchLoad, progress: ProgressPrinter?,
        onFinished: @Sendable (FetchRow) -> Void = { _ in }
    ) async -> [FetchRow] {
        var rows: [Int: FetchRow] = [:]
        await withTaskGroup(of: (Int, FetchRow).self) { group in
            var next = 0
            func startOne() {
                guard next < inputs.count, !Task.isCancelled else { return }
                let index = next
                next += 1
                group.addTask {
                    progress?.start(index, name: Inputs.lastPart(inputs[index].label))
                    let row = await load.run(inputs[index], facts[index]) {
                        progress?.update(index, received: $0.receivedByteCount, expected: $0.expectedByteCount)
                    }
                    progress?.finish(index, row)
                    return (index, row)
                }
            }
            for _ in 0..<concurrency { startOne() }
            while let (index, row) = await group.next() {
                rows[index] = row
                onFinished(row)
                startOne()
            }
        }
        return rows.sorted { $0.key < $1.key }.map(\.value)
    }
}

/// The options for loading an image and optionally writing it.
struct ImageBatchLoad: Sendable {
    let manager: ImageManager
    var size: TargetSize?
    var resampling = ResamplingFilter.lanczos3
    var policy = CachePolicy.http
    var transformers: [any ImageTransformer] = []
    /// The writer of the images, or `nil` if they aren't written.
    var writer: OutputWriter?
    /// The encoding of written images, or `nil` if the original data is written. If its format is `nil`, the original
    /// format is used if possible.
    var encoding: ImageEncoding?
    var tags: Set<String> = []
    /// The previews to request, or `nil` for no previews.
    var previews: PreviewLoad?
    var onImage: (@Sendable (String, DecodedImage) -> Void)?

    func run(
        _ input: ImageInput, _ facts: OutputFacts, onProgress: @Sendable (ImageTask.Progress) -> Void
    ) async -> FetchRow {
        var row = FetchRow(label: input.label, input: input.text)
        row.index = facts.index
        do throws(ImageError) {
            var request = try await request(input)
            request.size = size
            request.decoding.resampling = resampling
            request.cachePolicy = policy
            request.caching.tags = tags
            request.previews = previews?.policy ?? .disabled
            if !transformers.isEmpty { request.transformers = transformers }
            if let encoding, writer != nil {
                request.decoding = request.decoding.preparing(for: encoding, after: transformers)
            }
            // Only the original data shows whether the source has a high dynamic range that was mapped.
            request.includesOriginalData = writer != nil
            let start = ContinuousClock.now
            let (result, log) = await self.result(of: request, facts.name, onProgress)
            row.previews = log?.rows
            var response = try result.get()
            if let failure = log?.failure { throw failure }
            // An image from the memory cache has no timings, so measure the total time.
            if response.timings[.request] == nil { response.timings[.request] = start.duration(to: .now) }
            row.update(from: response)
            onImage?(input.text, response.image)
            if let writer {
                let (output, notes) = try await write(response, request, writer, facts)
                row.outputs = [output]
                row.notes += notes
                row.addMismatch(of: writer.plan.format, with: response.image.format, encodesAgain: encoding != nil)
            }
        } catch {
            row.error = error
        }
        return row
    }

    /// Returns the request for an input, whose data can come from standard input.
    private func request(_ input: ImageInput) async throws(ImageError) -> ImageRequest {
        // URLs of the library can't contain names of files that aren't valid UTF-8.
        guard input.text == "-" || Files.isOpenStream(input.text) || FileNameText.hasEscapes(input.text) else {
            return ImageRequest(url: try input.url)
        }
        let limit = manager.configuration.limits.maxEncodedBytes
        let data = try await BlockingWork.run { () throws(ImageError) in try Files.read(input.text, limit: limit) }
        return ImageRequest(data: data)
    }

    private func result(
        of request: ImageRequest, _ stem: String?, _ onProgress: @Sendable (ImageTask.Progress) -> Void
    ) async -> (Result<ImageResponse, ImageError>, PreviewLog?) {
        let task = manager.load(request)
        let log = await withTaskCancellationHandler {
            var log = previews.map { PreviewLog(directory: $0.directory, stem: stem) }
            for await event in task.events {
                if case .progress(let progress) = event { onProgress(progress) }
                await log?.record(event)
            }
            return log
        } onCancel: {
            task.cancel()
        }
        return (task.result ?? .failure(.cancelled), log)
    }

    /// Writes an image, unless the file exists and existing files are preserved. Also returns notes about what an encoded
    /// file doesn't contain.
    private func write(
        _ response: ImageResponse, _ request: ImageRequest, _ writer: OutputWriter, _ facts: OutputFacts
    ) async throws(ImageError) -> (OutputRecord, notes: [String]) {
        let (image, coders) = (response.image, manager.configuration.coders)
        let format =
            encoding.map { $0.format ?? Self.writableFormat(of: image, coders) } ?? response.image.format
        var facts = facts
        facts.fileExtension = format?.fileExtension ?? "bin"
        (facts.width, facts.height) = (image.size.width, image.size.height)
        let (path, index) = (writer.plan.path(facts), facts.index)
        var output = OutputRecord(path: path, format: format?.rawValue ?? "", width: facts.width, height: facts.height)
        guard try await BlockingWork.run({ () throws(ImageError) in try writer.reserve(path, index: index) }) else {
            output.isPreserved = true
            return (output, [])
        }
        let data: Data
        var notes: [String] = []
        if var chosen = encoding {
            chosen.format = format
            let limits = manager.configuration.limits
            (data, notes) = try await BlockingWork.run { [chosen] () throws(ImageError) in
                let data = try coders.encode(image, as: chosen, context: ImageProcessingContext(limits: limits))
                return (data, Self.losses(of: response, as: chosen, in: data))
            }
        } else {
            data = try await original(response, request)
        }
        try await BlockingWork.run { () throws(ImageError) in try writer.write(data, to: path) }
        if let size = try? ImageInfo(data: data).size { (output.width, output.height) = (size.width, size.height) }
        output.byteCount = data.count
        return (output, notes)
    }

    /// Returns notes about what an encoded file doesn't contain.
    private static func losses(of response: ImageResponse, as encoding: ImageEncoding, in file: Data) -> [String] {
        let image = response.image
        return OutputLosses.colorNotes(of: response.originalData, image, as: encoding, in: [file])
            + OutputLosses.notes(
                frameCount: image.frameCount, from: image.format, in: encoding.formatOrAutomatic,
                isLossless: encoding.isLossless)
    }

    /// Returns the format of the image, or PNG or JPEG if that format can't be written.
    private static func writableFormat(of image: DecodedImage, _ coders: ImageCoderRegistry) -> ImageFormat {
        let keepsAlpha = image.isOpaque || image.format != .jpeg
        if let format = image.format, keepsAlpha, coders.canEncode(format) { return format }
        return image.isOpaque ? .jpeg : .png
    }

    private func original(_ response: ImageResponse, _ request: ImageRequest) async throws(ImageError) -> Data {
        if let data = response.originalData { return data }
        var again = request
        again.cachePolicy = .cacheFirst
        return try await manager.data(for: again)
    }
}

extension FetchRow {
    /// Adds a note if the extension of the output names another format than that of the original data.
    mutating func addMismatch(of named: ImageFormat?, with format: ImageFormat?, encodesAgain: Bool) {
        guard !encodesAgain, let named, let format, named != format, let output = outputs.first, !output.isPreserved,
            named.fileExtension != format.fileExtension
        else { return }
        notes.append("\(output.path) contains \(format.rawValue) data (use -f \(named.rawValue) to convert it)")
    }

    mutating func update(from response: ImageResponse) {
        format = response.image.format?.rawValue
        width = response.image.size.width
        height = response.image.size.height
        frames = response.image.frameCount
        source = response.source.rawValue
        isStale = response.isStale
        bytes = response.originalByteCount
        let stages: [(String, ImageManager.Stage)] = [
            ("disk", .diskLookup), ("load", .load), ("decode", .decode), ("transform", .transform),
            ("total", .request),
        ]
        timings = stages.map { ($0, (response.timings[$1] ?? .zero) / .seconds(1)) }
    }
}
