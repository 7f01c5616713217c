// SPDX-License-Identifier: MIT

import WebImage
import WebImageCommand
import WebImagePrograms

/// The previews to request for each image of `load`.
struct PreviewLoad: Sendable {
    let policy: PreviewPolicy
    /// The directory to which previews are written, or `nil` if they aren't written.
    let folder: String?
}

/// A log of the previews of one image. It can write them to `name-1.png`, `name-2.png`, and so on.
struct PreviewLog: Sendable {
    let folder: String?
    /// The part of the file names before the number.
    let stem: String?
    private(set) var rows: [PreviewRow] = []
    /// The first error that occurred while writing a preview.
    private(set) var failure: ImageError?
    private var received = 0

    init(folder: String?, stem: String?) {
        self.folder = folder
        self.stem = stem
    }

    mutating func take(_ event: ImageEvent) async {
        switch event {
        case .progress(let progress): received = progress.received
        case .preview(let image): await take(image)
        default: break
        }
    }

    private mutating func take(_ image: Image) async {
        var row = PreviewRow(bytes: received, width: image.size.width, height: image.size.height)
        if let folder, let stem {
            let path = "\(folder)/\(stem)-\(rows.count + 1).png"
            do throws(ImageError) {
                try await Blocking.run { () throws(ImageError) in
                    let data = try CoderRegistry.standard.encode(image, as: .png(), context: CodingContext())
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
