// SPDX-License-Identifier: MIT

import Foundation
import ImageFormats
import SwiftCrossUI
import WebImageUI

/// A view of SwiftCrossUI that loads and shows the image at a URL:
///
/// ```swift
/// AsyncImage(url).frame(width: 200, height: 150)
/// ```
/// The binder of the view cancels a load that another URL replaces. The view works with all backends.
public struct AsyncImage: View {
    @State private var model = AsyncImageModel()
    private let url: URL?

    /// Creates a view. The image is decoded at full size.
    public init(_ url: URL?) { self.url = url }

    /// The image, which fills the frame of the view.
    public var body: some View {
        VStack {
            if let image = model.image { SwiftCrossUI.Image(image).resizable() }
        }
        .onChange(of: url, initial: true) { model.bind(url) }
        .onDisappear { model.binder.unbind() }
    }
}

/// The state of a view: a binder, and the image that it presents.
@MainActor
final class AsyncImageModel: ObservableObject {
    @Published var image: ImageFormats.Image<RGBA>?
    private(set) lazy var binder = ImageBinder { [weak self] presentation in
        self?.image = presentation.image.map { ImageFormats.Image(straightening: $0.pixels) }
    }

    func bind(_ url: URL?) {
        var options = ImageViewOptions()
        options.sizing = .originalSize
        binder.bind(url.map { ImageRequest(url: $0) }, options: options)
    }
}

extension ImageFormats.Image<RGBA> {
    /// Creates an image from premultiplied pixels with 8 bits per sample. SwiftCrossUI expects straight alpha.
    init(straightening pixels: PixelBuffer) {
        var bytes = pixels.packedBytes()
        if !pixels.isOpaque {
            for index in stride(from: 0, to: bytes.count, by: 4) where bytes[index + 3] != 0 {
                for sample in index..<index + 3 {
                    bytes[sample] = UInt8(min(255, Int(bytes[sample]) * 255 / Int(bytes[index + 3])))
                }
            }
        }
        self.init(width: pixels.width, height: pixels.height, bytes: bytes)
    }
}
