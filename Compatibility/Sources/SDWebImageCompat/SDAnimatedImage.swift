// SPDX-License-Identifier: MIT

import AppleNames
import Foundation
import WebImage
import WebImageUI

/// An image whose frames are decoded on demand. It can be created from any ``UIImage``.
public final class SDAnimatedImage: UIImage, @unchecked Sendable {
    // Safe: the class has no variable.

    /// The format of the data.
    public var animatedImageFormat: SDImageFormat { SDImageFormat(decoded.format) }
    /// The number of frames, which is 1 for a still image.
    public var animatedImageFrameCount: UInt { UInt(decoded.frameCount) }
    /// The number of loops. 0 means an endless animation.
    public var animatedImageLoopCount: UInt { UInt(decoded.animation?.loopCount ?? 0) }

    /// Returns a frame, or `nil` if there’s no frame with this index.
    public func animatedImageFrame(at index: UInt) -> UIImage? {
        guard index < animatedImageFrameCount else { return nil }
        guard let animation = decoded.animation else { return self }
        return (try? animation.frame(at: Int(index))).map {
            UIImage(decoded: DecodedImage(pixels: $0, scale: decoded.scale))
        }
    }

    /// Returns the duration of a frame, in seconds, or 0 if there’s no frame with this index.
    public func animatedImageDuration(at index: UInt) -> TimeInterval {
        guard let durations = decoded.animation?.frameDurations, index < durations.count else { return 0 }
        return durations[Int(index)].interval
    }

    /// Not available.
    @available(*, unavailable, message: "Request the data with ImageRequest.includesOriginalData of WebImage.")
    public var animatedImageData: Data? { nil }

    /// Not available.
    @available(*, unavailable, message: "Use AnimationPlayer.Options.frameBufferLimit of WebImage.")
    public func preloadAllFrames() {}
}

/// The player of an animation, which contains an `AnimationPlayer`.
@MainActor
public final class SDAnimatedImagePlayer {
    /// The player of WebImage, whose owner must call `tick(at:)`. Views have their own players.
    public let player: AnimationPlayer

    /// Creates a player. Returns `nil` for a still image.
    public init?(provider: SDAnimatedImage) {
        guard let player = AnimationPlayer(provider.decoded) else { return nil }
        self.player = player
    }

    /// The index of the current frame.
    public var currentFrameIndex: UInt { UInt(player.frameIndex) }
    /// The number of completed loops.
    public var currentLoopCount: UInt { UInt(player.completedLoops) }
    /// The number of loops to play. 0 means an endless animation.
    public var totalLoopCount: UInt {
        get { UInt(player.options.loopCount ?? 0) }
        set { player.options.loopCount = Int(newValue) }
    }
    /// The speed. 1 is the original speed.
    public var playbackRate: Double {
        get { player.options.rate }
        set { player.options.rate = newValue }
    }
    /// A Boolean value that indicates whether the animation plays.
    public var isPlaying: Bool { player.state == .playing }

    /// Plays the animation.
    public func startPlaying() { player.play() }
    /// Pauses the animation.
    public func pausePlaying() { player.pause() }
    /// Stops the animation.
    public func stopPlaying() { player.stop() }
    /// Shows a frame.
    public func seekToFrame(at index: UInt, loopCount: UInt) {
        player.seek(toFrame: Int(index), completedLoops: Int(loopCount))
    }
}

extension UIImage {
    /// Decodes an image, which is animated if the data is.
    public static func sd_image(with data: Data?) -> UIImage? { data.flatMap { UIImage(data: $0) } }

    /// The format of the data that the image was decoded from.
    public var sd_imageFormat: SDImageFormat { SDImageFormat(decoded.format) }
    /// A Boolean value that indicates whether the image is animated.
    public var sd_isAnimated: Bool { decoded.isAnimated }
    /// A Boolean value that indicates whether the image was drawn from a vector format.
    public var sd_isVector: Bool { decoded.format?.isVector ?? false }
    /// A Boolean value that indicates whether the image was transformed.
    public var sd_isTransformed: Bool { decoded.isTransformed }
    /// A Boolean value that indicates whether the image is a preview.
    public var sd_isIncremental: Bool { decoded.metadata.isPartial }
    /// The number of loops. 0 means an endless animation.
    public var sd_imageLoopCount: UInt { UInt(decoded.animation?.loopCount ?? 0) }
    /// The number of frames.
    public var sd_imageFrameCount: UInt { UInt(decoded.frameCount) }
    /// The size of the pixels, in bytes.
    public var sd_memoryCost: UInt { UInt(decoded.cost) }

    /// Returns the encoded image in its own format, or in the smallest suitable format.
    public func sd_imageData() -> Data? { sd_imageData(as: sd_imageFormat) }

    /// Returns the encoded image. The quality is 0 to 1.
    public func sd_imageData(
        as format: SDImageFormat, compressionQuality: Double = 1, firstFrameOnly: Bool = false
    ) -> Data? {
        SDImageIOCoder.shared.encodedData(
            with: self, format: format,
            options: [.encodeCompressionQuality: compressionQuality, .encodeFirstFrameOnly: firstFrameOnly])
    }
}
