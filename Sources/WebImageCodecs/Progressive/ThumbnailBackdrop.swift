// SPDX-License-Identifier: MIT

import WebImageCore

/// An embedded thumbnail that is displayed until better pixels arrive.
///
/// The thumbnail stays at its own size, and each preview enlarges it, so it needs little memory.
struct ThumbnailBackdrop {
    private let pixels: PixelBuffer
    private let content: SampleRect
    private let layout: DecodeLayout
    /// The number of pixels of the thumbnail as a fraction of the pixels of the image.
    private let share: Double

    /// Creates a backdrop, or returns `nil` if the thumbnail doesn't show the whole image. See ``ThumbnailFit``. The
    /// thumbnail has the orientation of the stored image and the colors of the result.
    init?(_ thumbnail: PixelBuffer, layout: DecodeLayout) {
        guard let content = ThumbnailFit.content(of: thumbnail, imageSize: layout.rawSize) else { return nil }
        pixels = thumbnail
        self.content = content
        self.layout = layout
        share = content.width * content.height / (Double(layout.rawSize.width) * Double(layout.rawSize.height))
    }

    /// Returns the thumbnail at the size of the result.
    func enlarged(context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        try layout.enlarge(pixels, content: content, context: context)
    }

    /// Returns `preview` with the thumbnail behind its missing rows. The result is `nil` if the thumbnail alone has more
    /// detail, as it may have compared to the first scan of a small image.
    ///
    /// Scans that contain the fraction f of the coefficients have about as much detail as an image with the fraction f of
    /// the pixels.
    func combined(with preview: ImagePreview, context: ImageProcessingContext) throws(ImageError) -> ImagePreview? {
        guard !preview.coversImage else {
            return preview.detail ?? preview.fractionCompleted > share ? preview : nil
        }
        let pixels = try enlarged(context: context).draw(preview.image.pixels, context: context)
        return ImagePreview(
            image: preview.image.replacing(pixels: pixels, animation: nil), completedRows: layout.rawSize.height,
            completedPasses: preview.completedPasses, passCount: preview.passCount,
            fractionCompleted: preview.fractionCompleted)
    }
}
