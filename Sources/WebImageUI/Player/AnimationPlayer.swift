// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCore

/// A player for an animated image, driven by the clock of a view.
///
/// The view calls ``tick(at:)`` before it draws, and then draws ``pixels``. The player shows the poster frame until you
/// call ``play()``.
///
/// Frames follow the clock, and the player skips late frames. After a stall of more than a quarter of a second, it
/// continues from its previous position, at most one frame later. The manager's worker threads decode frames in
/// advance, once for all players of the image. The decoded frames are cached within a memory budget. Under memory
/// pressure, only displayed frames remain in memory.
@MainActor
public final class AnimationPlayer {
    /// The budget for the cached frames of all animations in the process, in bytes. The animations share it equally.
    /// Displayed frames don't count toward the budget. The default is half of the default
    /// ``MemoryCache/Configuration/costLimit``.
    package static var totalFrameBytes: Int {
        get { SharedFrameBufferRegistry.shared.totalBudget }
        set { SharedFrameBufferRegistry.shared.totalBudget = max(0, newValue) }
    }

    /// The animated image.
    public private(set) var image: DecodedImage
    /// The pixels of the frame to draw.
    public private(set) var pixels: PixelBuffer
    /// The index of the frame to draw.
    public private(set) var frameIndex = 0
    /// A closure that is called when a tick is required before the deadline: after ``play()`` and other calls, and
    /// after an awaited frame was decoded. The default is `nil`.
    public var onNeedsTick: (@MainActor () -> Void)?
    /// A closure that is called during a tick with every newly displayed frame. It isn't called for the poster frame
    /// before the first tick. The default is `nil`.
    public var onFrame: (@MainActor (_ index: Int, _ pixels: PixelBuffer) -> Void)?
    /// A closure that is called during a tick with the number of completed loops after it increases. The default is
    /// `nil`.
    public var onLoop: (@MainActor (_ completedLoops: Int) -> Void)?
    /// A closure that is called after all loops were played. The default is `nil`.
    public var onFinish: (@MainActor () -> Void)?

    /// The playback options. A change takes effect immediately. It preserves the current frame unless it turns on
    /// ``AnimationPlayer/Options/reducesMotion``.
    public var options: AnimationPlayer.Options {
        didSet { if options != oldValue { optionsChanged(from: oldValue) } }
    }

    private let manager: ImageManager
    private var machine: PlayerStateMachine
    private var pool: SharedFrameBuffer
    private var membership = 0
    private var reportedDemand: FrameDemand?

    /// Creates a player that shows the poster frame of an image. Returns `nil` for still images.
    ///
    /// If the image is a preview whose ``ImageAnimation/isComplete`` is `false`, pass the later previews and the final
    /// image to ``update(_:)``.
    ///
    /// - Parameters:
    ///   - image: The animated image.
    ///   - manager: The manager whose worker threads decode the frames. The default is ``ImageManager/shared``.
    ///   - options: The playback options. By default, they have their default values.
    public convenience init?(
        _ image: DecodedImage, manager: ImageManager = .shared,
        options: AnimationPlayer.Options = AnimationPlayer.Options()
    ) {
        self.init(image, manager: manager, options: options, isComplete: image.animation?.isComplete ?? true)
    }

    /// Creates a player for an image that may not have all of its frames yet. If `isComplete` is `false`, pass more
    /// frames to ``update(_:isComplete:)``.
    package init?(
        _ image: DecodedImage, manager: ImageManager = .shared,
        options: AnimationPlayer.Options = AnimationPlayer.Options(), isComplete: Bool
    ) {
        guard let animation = image.animation else { return nil }
        self.image = image
        self.manager = manager
        self.options = options
        pixels = image.pixels
        machine = PlayerStateMachine(animation.timeline, mode: options.mode, isComplete: isComplete)
        machine.rate = options.rate
        machine.loopCount = options.loopCount
        machine.reducesMotion = options.reducesMotion
        pool = SharedFrameBufferRegistry.shared.pool(for: animation, firstFrame: image.pixels, manager: manager)
        join()
        if options.preloadsFrames { reportDemand() }
    }

    isolated deinit { pool.leave(membership) }

    // MARK: - Control

    /// The playback state.
    public var state: AnimationPlayer.State { machine.state }
    /// The number of completed loops.
    public var completedLoops: Int { machine.loopsCompleted }

    /// Starts or resumes playback. A player that has finished restarts from the beginning.
    public func play() {
        machine.play()
        changed()
    }

    /// Pauses playback at the current frame. ``play()`` resumes it.
    public func pause() {
        machine.pause()
        changed()
    }

    /// Stops playback and returns to the poster frame. To keep the current frame, call ``pause()`` instead.
    public func stop() { stop(clears: false) }

    /// Stops playback. `clears` indicates whether to release the frames that no other player needs.
    package func stop(clears: Bool) {
        machine.stop(resets: true)
        display(0, image.pixels)
        changed()
        if clears { pool.clear() }
    }

    /// Seeks to a frame in any playback state. Afterward, a synchronized player uses its own clock.
    ///
    /// - Parameter index: The index of the frame.
    /// - Returns: `false` if there's no frame with this index.
    @discardableResult
    public func seek(toFrame index: Int) -> Bool {
        guard machine.seek(to: index) else { return false }
        changed()
        return true
    }

    /// Seeks to a frame of a loop in any playback state. Afterward, a synchronized player uses its own clock.
    ///
    /// ``onLoop`` isn't called for the skipped loops. ``play()`` continues in this loop, unless the player is stopped:
    /// then, it begins with the first loop.
    ///
    /// - Parameters:
    ///   - index: The index of the frame.
    ///   - loops: The number of loops that count as completed, as in ``completedLoops``. A negative number means 0. If
    ///     the number of loops is limited, the last loop is the highest possible one.
    /// - Returns: `false` if there's no frame with this index.
    @discardableResult
    public func seek(toFrame index: Int, completedLoops loops: Int) -> Bool {
        guard machine.seek(to: index, loops: loops) else { return false }
        changed()
        return true
    }

    /// Seeks to a time, measured in forward order at normal speed. A negative time means the beginning, and a time past
    /// the end wraps around.
    public func seek(to time: Duration) {
        machine.seek(toTime: max(.zero, time).saturatingNanoseconds)
        changed()
    }

    /// Releases the decoded frames of the image that no player displays or is about to display.
    ///
    /// Players that don't play need only their displayed frame. If playback continues, the frames are decoded again.
    public func clearFrameBuffer() { pool.clear() }

    /// A Boolean value that indicates whether the view is visible. If it isn't, the player decodes no frames and its
    /// clock is paused. The default is `true`.
    public var isVisible = true {
        didSet {
            guard isVisible != oldValue else { return }
            machine.suspend()
            changed()
        }
    }

    private func optionsChanged(from old: AnimationPlayer.Options) {
        machine.rate = options.rate
        machine.mode = options.mode
        machine.loopCount = options.loopCount
        if options.reducesMotion != old.reducesMotion {
            machine.reducesMotion = options.reducesMotion
            if options.reducesMotion { display(0, image.pixels) }
            machine.suspend()
        }
        if options.frameBufferLimit != old.frameBufferLimit {
            pool.setBudget(options.frameBufferLimit, of: membership)
        }
        // The next tick selects the clock.
        if options.isSynchronized != old.isSynchronized { machine.hasClock = false }
        changed()
    }

    /// Replaces the image with a version that has more frames, and continues at the current position.
    ///
    /// Previews of a running download can be animations that have only the frames that were received until then. A
    /// player of such an image waits at its last frame, without requesting ticks, and doesn't begin another loop. Pass
    /// it the later previews and the final image. If the download fails, the last available frame remains.
    ///
    /// - Parameter image: The same image with more frames or all of its frames.
    /// - Returns: `false` if `image` is a still image or a different image, in which case nothing changes.
    @discardableResult
    public func update(_ image: DecodedImage) -> Bool { update(image, isComplete: image.animation?.isComplete ?? true) }

    /// Replaces the image like ``update(_:)``. `isComplete` indicates whether the image has all of its frames.
    @discardableResult
    package func update(_ image: DecodedImage, isComplete: Bool) -> Bool {
        guard let animation = image.animation, image.continues(self.image) else { return false }
        self.image = image
        machine.grow(animation.timeline, isComplete: isComplete)
        if animation !== pool.animation {
            let old = (pool: pool, membership: membership)
            pool = SharedFrameBufferRegistry.shared.pool(
                extending: old.pool, to: animation, firstFrame: image.pixels)
            if pool !== old.pool {
                pool.adopt(old.pool)
                join()
                old.pool.leave(old.membership)
            }
        }
        changed()
        return true
    }

    // MARK: - Ticks

    /// Updates the displayed frame.
    ///
    /// - Parameter time: The presentation time of the next drawn frame, from any monotonic clock.
    /// - Returns: A Boolean value that indicates whether ``pixels`` changed, and the time of the next required call.
    ///   The time is `nil` if no call is required until ``onNeedsTick`` is called. Additional calls are harmless.
    public func tick(at time: Duration) -> (didChange: Bool, nextTick: Duration?) {
        guard isVisible else { return (didChange: false, nextTick: nil) }
        let now = time.saturatingNanoseconds
        synchronize(now)
        let old = pixels
        let step = machine.tick(at: now) { [pool] in pool.isAvailable($0) }
        let index = machine.displayedIndex
        if index != frameIndex, let next = pool.frame(at: index) {
            display(index, next)
            onFrame?(index, next)
        }
        reportDemand()
        if let loops = step.loops { onLoop?(loops) }
        if step.hasFinished { onFinish?() }
        return (didChange: pixels !== old, nextTick: step.deadline.map { Duration.nanoseconds($0) })
    }

    private func synchronize(_ now: Int) {
        guard machine.state == .playing, !machine.hasClock else { return }
        guard options.isSynchronized else { return machine.follow(nil) }
        pool.origin = pool.origin ?? now
        machine.follow(pool.origin)
    }

    private func display(_ index: Int, _ pixels: PixelBuffer) {
        frameIndex = index
        self.pixels = pixels
    }

    private func join() {
        membership = pool.join(budget: options.frameBufferLimit) { [weak self] in self?.onNeedsTick?() }
    }

    private func changed() {
        reportDemand()
        // A hidden view draws no frames. When it appears, the player calls this function again.
        if isVisible { onNeedsTick?() }
    }

    private func reportDemand() {
        let isRunning = machine.state == .playing && machine.rate > 0
        let preloads = options.preloadsFrames && !isRunning
        let need = FrameDemand(
            current: frameIndex, due: machine.dueIndex, displayed: machine.displayedIndex, isRunning: isRunning,
            isMissing: machine.displayedIndex != frameIndex && !pool.isAvailable(machine.displayedIndex),
            isVisible: isVisible, preloads: preloads, lookAhead: preloads ? .max : pool.lookAhead, mode: machine.mode,
            membership: membership)
        // Avoid computing the long list of frames unless the displayed frame changes. Request a due frame on every
        // call.
        guard need != reportedDemand || need.isDue else { return }
        reportedDemand = need
        var want = FrameBufferStateMachine.FrameRequest(current: frameIndex, isDue: need.isDue)
        if isVisible, isRunning || need.isDue || need.preloads {
            want.next = machine.upcoming(isRunning || need.preloads ? need.lookAhead : 1)
        }
        if !need.isDue, want.next.first == frameIndex { want.next.removeFirst() }
        pool.request(want, by: membership)
    }
}

extension DecodedImage {
    /// Returns whether the image is the same animation as `earlier` with the same frames or more. The data of a
    /// download can differ from the final image, for example if an interceptor changes it.
    fileprivate func continues(_ earlier: DecodedImage) -> Bool {
        guard let animation, let old = earlier.animation, size == earlier.size, format == earlier.format,
            animation.timeline.durations.starts(with: old.timeline.durations)
        else { return false }
        return pixels === earlier.pixels || pixels.hasEqualPixels(to: earlier.pixels)
    }
}

extension PixelBuffer {
    /// Returns whether both buffers have the same pixels, regardless of the padding of their rows.
    fileprivate func hasEqualPixels(to other: PixelBuffer) -> Bool {
        guard size == other.size, format == other.format else { return false }
        let rowBytes = width * format.bytesPerPixel
        return withUnsafeBytes { left in
            other.withUnsafeBytes { right in
                guard let left = left.baseAddress, let right = right.baseAddress else { return false }
                return (0..<height).allSatisfy { row in
                    memcmp(left + row * bytesPerRow, right + row * other.bytesPerRow, rowBytes) == 0
                }
            }
        }
    }
}

/// The values that determine which frames a player needs.
private struct FrameDemand: Equatable {
    var current: Int
    var due: Int
    var displayed: Int
    var isRunning: Bool
    /// Whether the frame to display failed before, and a later version of the image may contain it.
    var isMissing: Bool
    var isVisible: Bool
    /// Whether the player requests frames although it doesn't play.
    var preloads: Bool
    var lookAhead: Int
    var mode: AnimationPlayer.Mode
    var membership: Int

    var isDue: Bool { isVisible && (due != displayed || isMissing) }
}
