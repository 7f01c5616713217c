// SPDX-License-Identifier: MIT

#if HEIF
    import Foundation
    import WebImageCore

    /// A decoder for the sync samples of a HEIC image sequence.
    struct HEIFSequenceSource: LibraryFrameSource, ~Copyable {
        private let data: Data
        private let sequence: HEIFSequence
        private let options: ImageDecodingOptions

        init(_ data: Data, _ sequence: HEIFSequence, options: ImageDecodingOptions) {
            self.data = data
            self.sequence = sequence
            self.options = options
        }

        /// The durations of the frames in milliseconds.
        var durations: [Int] {
            sequence.samples.map { AnimationTimeline.normalizedDelay(milliseconds: $0.milliseconds) }
        }

        mutating func decode(frame: Int, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
            try opened(frame, context: context) { (reader) throws(ImageError) in
                let color = options.colors(reader.conversion(profile: reader.iccProfile())).conversion
                return try reader.decode(
                    color: color, preservesBitDepth: options.preservesBitDepth, context: context)
            }
        }

        /// Returns the properties of the frames, which the first frame has.
        func metadata(context: ImageProcessingContext) throws(ImageError) -> ImageMetadata {
            try opened(0, context: context) { (reader) throws(ImageError) in
                let profile = reader.iccProfile()
                let colors = options.colors(reader.conversion(profile: profile))
                return ImageMetadata(
                    storedSize: reader.size, bitDepth: reader.depth, hasAlpha: reader.hasAlpha, iccProfile: profile,
                    codePoints: reader.codePoints, color: colors.color, sourceCurve: colors.sourceCurve)
            }
        }

        private func opened<Result>(
            _ frame: Int, context: ImageProcessingContext,
            _ body: (borrowing HEIFReader) throws(ImageError) -> Result
        ) throws(ImageError) -> Result {
            try context.checkCancellation()
            let range = sequence.samples[frame].range
            let sample = data[data.startIndex + range.lowerBound..<data.startIndex + range.upperBound]
            return try HEIFSampleFile.data(for: Data(sample), in: sequence).withBytes { (bytes) throws(ImageError) in
                let reader = try HEIFReader(bytes, imageIndex: 0, limits: context.limits)
                guard reader.size == sequence.size else {
                    let reason = "the size of frame \(frame) is \(reader.size) instead of \(sequence.size)"
                    throw .decoding(.contradictsHeader(format: .heif, reason: reason))
                }
                return try body(reader)
            }
        }
    }
#endif
