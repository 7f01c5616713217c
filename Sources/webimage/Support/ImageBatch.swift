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

    /// Loads all `inputs`. Canceling the current task cancels the running loads and starts no further ones.
    ///
    /// - Returns: One row for each input that was started, in the order of the inputs.
    func run(
        inputs: [String], names: [String], load: ImageBatchLoad, progress: ProgressPrinter?,
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
                    progress?.start(index, name: Inputs.lastPart(inputs[index]))
                    let row = await load.run(inputs[index], stem: names.isEmpty ? nil : names[index]) {
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
    /// The place to which images are written.
    enum Output: Sendable {
        /// A file, or standard output if the path is `-`. Only for a single image.
        case file(String)
        /// A directory in which the names of the files are derived from the URLs.
        case directory(String)

        /// Returns the path for an image. `stem` is the name without its extension.
        func path(stem: String, fileExtension: String) -> String {
            switch self {
            case .file(let path): path
            case .directory(let directory): "\(directory)/\(stem).\(fileExtension)"
            }
        }
    }

    let manager: ImageManager
    var size: TargetSize?
    var policy = CachePolicy.http
    var transformers: [any ImageTransformer] = []
    /// The place to which images are written, or `nil` if they aren't written.
    var output: Output?
    /// A Boolean value that indicates whether existing files are preserved.
    var keepsExistingFiles = false
    /// The encoding of written images, or `nil` if the original data is written. If its format is `nil`, the original
    /// format is used if possible.
    var encoding: ImageEncoding?
    /// The tags for stored images.
    var tags: Set<String> = []
    /// The previews to request, or `nil` for no previews.
    var previews: PreviewLoad?
    /// A closure that receives each image.
    var onImage: (@Sendable (String, DecodedImage) -> Void)?

    /// Loads the image that `input` specifies. `stem` is the name of the output file without its extension.
    func run(
        _ input: String, stem: String?, onProgress: @Sendable (ImageTask.Progress) -> Void
    ) async -> FetchRow {
        var row = FetchRow(name: Inputs.shortName(input), url: input, redactedURL: Redaction.text(input))
        do throws(ImageError) {
            var request = try await request(input)
            if input != "-", !request.url.isFileURL {
                row.url = URLCredentials.removed(from: request.url.absoluteString)
                row.redactedURL = Redaction.text(of: request.url)
            }
            request.cachePolicy = policy
            request.caching.tags = tags
            request.previews = previews?.policy ?? .disabled
            if !transformers.isEmpty { request.transformers = transformers }
            request.includesOriginalData = output != nil && encoding == nil
            let start = ContinuousClock.now
            let (result, log) = await self.result(of: request, stem, onProgress)
            row.previews = log?.rows
            var response = try result.get()
            if let failure = log?.failure { throw failure }
            // An image from the memory cache has no timings, so measure the total time.
            if response.timings[.request] == nil { response.timings[.request] = start.duration(to: .now) }
            row.update(from: response)
            onImage?(input, response.image)
            if let output, let stem { row.output = try await write(response, request, to: output, stem) }
        } catch {
            row.error = error
        }
        return row
    }

    /// Returns the request for an input, whose data can come from standard input.
    private func request(_ input: String) async throws(ImageError) -> ImageRequest {
        guard input == "-" else { return ImageRequest(url: try Inputs.url(input), size: size) }
        let limit = manager.configuration.limits.maxEncodedBytes
        let data = try await BlockingWork.run { () throws(ImageError) in try Files.read("-", limit: limit) }
        var request = ImageRequest(data: data)
        request.size = size
        return request
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

    /// Writes an image, unless the file exists and existing files are preserved.
    ///
    /// - Returns: The path of the file.
    private func write(
        _ response: ImageResponse, _ request: ImageRequest, to output: Output, _ stem: String
    ) async throws(ImageError) -> String {
        guard var encoding else {
            let target = output.path(stem: stem, fileExtension: response.image.format?.fileExtension ?? "bin")
            if isKept(target) { return target }
            let data = try await original(response, request)
            try await BlockingWork.run { () throws(ImageError) in try Files.write(data, to: target) }
            return target
        }
        let coders = manager.configuration.coders
        let format = encoding.format ?? Self.writableFormat(of: response.image, coders)
        encoding.format = format
        let target = output.path(stem: stem, fileExtension: format.fileExtension)
        if isKept(target) { return target }
        let (image, chosen) = (response.image, encoding)
        let limits = manager.configuration.limits
        try await BlockingWork.run { () throws(ImageError) in
            let data = try coders.encode(image, as: chosen, context: ImageProcessingContext(limits: limits))
            try Files.write(data, to: target)
        }
        return target
    }

    private func isKept(_ path: String) -> Bool {
        keepsExistingFiles && path != "-" && FileManager.default.fileExists(atPath: path)
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
    /// Copies the properties of a response.
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
