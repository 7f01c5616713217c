// SPDX-License-Identifier: MIT

import WebImage
import WebImageCommand
import WebImagePrograms

/// The previews that are made of each picture of `load`.
struct PreviewLoad: Sendable {
    let policy: PreviewPolicy
    /// Folder of the written previews; nil for none.
    let folder: String?
}

/// Notes the previews of one picture and writes them where asked: `name-1.png`, `name-2.png`, …
struct PreviewLog: Sendable {
    let folder: String?
    /// Name of the written files in front of the number.
    let stem: String?
    private(set) var rows: [PreviewRow] = []
    /// Why a preview could not be written; the first reason.
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
