// SPDX-License-Identifier: MIT

import WebImage
import WebImageCommand
import WebImagePrograms

/// The previews to request for each image of `fetch`.
struct PreviewLoad: Sendable {
    let policy: PreviewPolicy
    /// The directory to which previews are written, or `nil` if they aren't written.
    let directory: String?
}

/// A log of the previews of one image. It can write them to `name-1.png`, `name-2.png`, and so on.
struct PreviewLog: Sendable {
    let directory: String?
    /// The part of the file names before the number.
    let stem: String?
    private(set) var rows: [PreviewRow] = []
    /// The first error that occurred while writing a preview.
    private(set) var failure: ImageError?
    private var received = 0

    init(directory: String?, stem: String?) {
        self.directory = directory
        self.stem = stem
    }

    mutating func record(_ event: ImageTask.Event) async {
        switch event {
        case .progress(let progress): received = progress.receivedByteCount
        case .preview(let image): await record(image)
        default: break
        }
    }

    private mutating func record(_ image: DecodedImage) async {
        var row = PreviewRow(bytes: received, width: image.size.width, height: image.size.height)
        if let directory, let stem {
            let path = "\(directory)/\(stem)-\(rows.count + 1).png"
            do throws(ImageError) {
                try await BlockingWork.run { () throws(ImageError) in
                    let data = try ImageCoderRegistry.standard.encode(
                        image, as: .png,
                        context: ImageProcessingContext())
                    try Files.write(data, to: path)
                }
                row.output = path
            } catch {
                failure = failure ?? error
            }
        }
        rows.append(row)
    }
}
