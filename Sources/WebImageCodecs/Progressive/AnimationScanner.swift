// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore

/// A parser of an animated format that finds the complete frames in the received data. It continues at its position,
/// so it parses each block only once.
protocol AnimationScanner: Sendable {
    static var format: ImageFormat { get }
    /// The size of the canvas, or `nil` before the first frame is complete.
    var canvasSize: PixelSize? { get }
    /// The number of complete frames.
    var frameCount: Int { get }
    /// The number of times to play the animation, where 0 repeats indefinitely.
    var loopCount: Int { get }
    /// Whether the file contains no further frames.
    var isAtEnd: Bool { get }
    /// The memory that the list of frames occupies, in bytes.
    var cost: Int { get }
    /// Whether the data is truncated or corrupt, so that frames are missing or may be wrong. It's valid after the end
    /// of the data was received.
    var isPartial: Bool { get }

    /// Parses the data after the position. Throws an ``ImageError/DecodingFailure`` if the animation is invalid.
    mutating func scan(_ data: ReceivedData) throws(ImageError)

    /// Parses the remaining data after the end of the file was received. Throws
    /// ``ImageError/DecodingFailure/Reason/truncated(receivedBytes:expectedBytes:)`` if the decoder for complete files
    /// would reject the file because frames are missing.
    mutating func finish(_ data: ReceivedData) throws(ImageError)

    /// Returns the properties of the file. The first frame is complete.
    func properties(in data: ReceivedData, context: ImageProcessingContext) throws(ImageError) -> AnimationProperties

    /// Returns the way a complete frame changes the canvas.
    func operation(at place: Int, _ properties: AnimationProperties) -> FrameOperation

    /// Returns the stored delay of a complete frame, in milliseconds.
    func delay(at place: Int) -> Int

    /// Returns whether the metadata declares transparency, for the poster frame `poster`.
    func hasAlpha(_ poster: PixelBuffer, _ properties: AnimationProperties) -> Bool
}

/// The properties of an animated file that are known when the first frame is complete.
struct AnimationProperties: Sendable {
    var hasAlpha = false
    var bitDepth = 8
    var iccProfile: [UInt8]?
    var codePoints: ColorCodePoints?
    var color: ColorConversion?
}

/// The received data of an animated file and its complete frames. Compositors read frames while the decoder appends
/// data. This class is thread-safe.
final class ReceivedAnimation<Scanner: AnimationScanner>: Sendable {
    private struct State {
        var scanner: Scanner
        var data = ReceivedData()
    }

    private let state: Lock<State>

    init(_ scanner: Scanner) { state = Lock(State(scanner: scanner)) }

    /// Returns a result from the current frames and data. `body` is called with the lock, so it must be short.
    func read<Result>(_ body: (Scanner, ReceivedData) throws(ImageError) -> Result) throws(ImageError) -> Result {
        try state.withLock { (state) throws(ImageError) in try body(state.scanner, state.data) }
    }

    /// Appends data, which may be empty, and finds the frames that it completes. The limits apply to the size of the
    /// file and the number of frames. Throws an ``ImageError/DecodingFailure`` or an ``ImageError/LimitFailure``.
    func append(_ chunk: Data, isLast: Bool, limits: ImageLimits) throws(ImageError) {
        try state.withLock { (state) throws(ImageError) in
            try limits.check(encodedBytes: state.data.count + chunk.count)
            state.data.append(chunk)
            if isLast { try state.scanner.finish(state.data) } else { try state.scanner.scan(state.data) }
            guard state.scanner.frameCount <= limits.maxFrames else {
                throw .limitExceeded(
                    ImageError.LimitFailure(.frameCount, limit: limits.maxFrames, actual: state.scanner.frameCount))
            }
        }
    }
}
