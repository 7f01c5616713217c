// SPDX-License-Identifier: MIT

import Foundation

/// The options for decoding an image, which include everything that affects its pixels.
public struct ImageDecodingOptions: Sendable, Hashable {
    /// The requested size. The default is `nil`, which means the size of the image.
    public var size: TargetSize?
    /// The number of pixels per point of the result. The default is 1.
    public var scale: Double
    /// The frames to decode. The default is ``FrameSelection/all``.
    ///
    /// Coders receive only ``FrameSelection/all``, ``FrameSelection/first``, and ``FrameSelection/index(_:)``. For the
    /// other cases, ``ImageCoderRegistry`` chooses among the frames that the coder decodes on demand.
    public var frames: FrameSelection
    /// A Boolean value that indicates whether the result has 16 bits per sample if the source has more than 8 bits
    /// (PNG, TIFF, AVIF, HEIF, JPEG XL). The default is `false`, which always produces 8 bits.
    ///
    /// The 16-bit pixels have the format ``PixelFormat/rgba16``. Samples of 10 and 12 bits are scaled to the full
    /// range, and floating-point samples are clamped to 0...1. The frames of animated PNG files, TIFF images with inks,
    /// palettes, or YCbCr, and previews always have 8 bits.
    public var preservesBitDepth: Bool
    /// The color space of the pixels. The default is ``ImageColorSpace/sRGB``.
    ///
    /// With ``ImageColorSpace/displayP3``, colors between sRGB and Display P3 aren't clipped. With
    /// ``ImageColorSpace/source``, the samples remain in the color space of the file, which ``ImageMetadata/iccProfile``
    /// or the code points in the metadata describe. ``ImageMetadata/color`` contains the color space of the result.
    public var color: ImageColorSpace
    /// Whether the result keeps a gamut that exceeds sRGB, for encoders. It has an effect only if ``color`` is
    /// ``ImageColorSpace/sRGB``. The default is `false`.
    ///
    /// The pixels of files in sRGB are those that `false` produces. The pixels of other files keep the color space of the
    /// file, except that ink (CMYK) and the tones of PQ and HLG become Display P3. With 8 bits per sample, linear light
    /// becomes sRGB, or Display P3 if its gamut is wider. ``ImageMetadata/color`` contains the choice.
    package var keepsGamut = false
    /// The dynamic range of the result. The default is ``DynamicRange/standard``, which ignores gain maps and maps the
    /// tones of PQ and HLG images.
    ///
    /// Previews always have a standard dynamic range.
    public var dynamicRange: DynamicRange
    /// The resampling filter for reduced images. The default is Lanczos-3 in linear light.
    public var resampling: ResamplingFilter
    /// A Boolean value that indicates whether truncated data produces a partial image instead of an error. The default
    /// is `false`.
    public var allowsPartialData: Bool
    /// The format of data that content sniffing doesn't recognize, for custom coders.
    ///
    /// The hint has no effect if the data is in a known image format, or if sniffing always recognizes the hinted
    /// format. The default is `nil`, in which case requests use the path extension of the URL, for example `tga`.
    public var formatHint: ImageFormat?
    /// Options for custom coders by name. They're part of the cache key.
    public var coderOptions: [String: String]
    /// The identifier of the coder that the request specifies, or `nil` if the registry chooses the coder. It's part
    /// of the cache key.
    package var coderIdentifier: String?

    /// The dynamic range of decoded images.
    public enum DynamicRange: String, Sendable, Hashable, CaseIterable {
        /// The range of sRGB, from black to the white of paper.
        case standard
        /// The range of the file.
        ///
        /// If the file has a gain map, the result contains it as ``DecodedImage/gainMap``, and the pixels are those of
        /// ``standard``. The pixels of a still image in PQ or HLG keep these samples with 16 bits. Other images are the
        /// same as for ``standard``.
        case high
        /// The range of the file in samples of PQ with the primaries of BT.2020, for toolkits that display such samples.
        ///
        /// The gain map of a still image is applied at its full strength. Still images in HLG are converted. Those in PQ
        /// keep their samples and their primaries. The pixels of these images have 16 bits, and their code points are in
        /// ``ImageMetadata``. Other images are the same as for ``standard``.
        case pq

        /// Whether samples of PQ and HLG aren't converted to ``standard``, and gain maps are read.
        package var keepsRange: Bool { self != .standard }
    }

    /// Creates options. Set the other options as properties.
    ///
    /// - Parameters:
    ///   - size: The requested size. The default is `nil`, which means the size of the image.
    ///   - frames: The frames to decode. The default is all frames.
    public init(size: TargetSize? = nil, frames: FrameSelection = .all) {
        self.init(size: size, scale: 1, frames: frames)
    }

    /// Creates options with a value for each property.
    @_disfavoredOverload
    package init(
        size: TargetSize? = nil, scale: Double = 1, frames: FrameSelection = .all, preservesBitDepth: Bool = false,
        color: ImageColorSpace = .sRGB, dynamicRange: DynamicRange = .standard,
        resampling: ResamplingFilter = .lanczos3, allowsPartialData: Bool = false, formatHint: ImageFormat? = nil,
        coderOptions: [String: String] = [:]
    ) {
        self.size = size
        self.scale = scale
        self.frames = frames
        self.preservesBitDepth = preservesBitDepth
        self.color = color
        self.resampling = resampling
        self.dynamicRange = dynamicRange
        self.allowsPartialData = allowsPartialData
        self.formatHint = formatHint
        self.coderOptions = coderOptions
    }

    /// Returns the pixel format of the result for a source with `bitDepth` bits per sample.
    package func pixelFormat(_ bitDepth: Int) -> PixelFormat {
        PixelFormat(bitDepth: bitDepth, isPreserved: preservesBitDepth)
    }

    /// Returns the options for the coder of a file whose samples have the given code points. For high dynamic range, PQ
    /// and HLG samples aren't converted.
    package func adapted(to codePoints: ColorCodePoints?) -> ImageDecodingOptions {
        guard dynamicRange.keepsRange, codePoints?.isHDR == true else { return self }
        var options = self
        options.color = .source
        options.keepsGamut = false
        options.preservesBitDepth = true
        return options
    }

    /// Returns the options for the coder of a file. Animations always have a standard dynamic range.
    package func adapted(to info: ImageInfo, of data: Data) -> ImageDecodingOptions {
        // The coder of JPEG XL adapts the options itself.
        guard dynamicRange.keepsRange, info.frameCount == 1, info.format != .jxl else { return self }
        // In PNG files, code points take precedence over profiles.
        if !info.hasICCProfile || info.format == .png, let points = info.codePoints { return adapted(to: points) }
        // The tag of a profile is rare, so files are searched for it only if it matters.
        return info.hasICCProfile ? adapted(to: ColorCodePoints(ofProfileIn: data, format: info.format)) : self
    }

    /// Returns the options for decoding an image that's encoded afterward, so that the encoding decides on the colors.
    ///
    /// If the encoding keeps the colors of the source and its format can describe them, the decoder doesn't clip them to
    /// sRGB. If it also keeps the dynamic range and its format can store it, ``dynamicRange`` becomes
    /// ``DynamicRange/high``. Transformers that aren't geometric define colors in sRGB, so they receive pixels in sRGB
    /// with a standard dynamic range. Other color spaces than sRGB in these options remain.
    package func preparing(
        for encoding: ImageEncoding, after transformers: [any ImageTransformer]
    ) -> ImageDecodingOptions {
        guard color == .sRGB, encoding.format?.canDescribeColors ?? true, transformers.allSatisfy(\.isGeometric) else {
            return self
        }
        var options = self
        switch encoding.color {
        case .sRGB: break
        case .displayP3: options.color = .displayP3
        case .source: options.keepsGamut = true
        }
        // Gain maps apply to base images in any color space. PQ and HLG require that of the source.
        let isPossible = encoding.color == .source || encoding.format == .jpeg
        if isPossible, encoding.preservesDynamicRange, encoding.format?.canDescribeHDR ?? true {
            options.dynamicRange = .high
        }
        return options
    }
}
