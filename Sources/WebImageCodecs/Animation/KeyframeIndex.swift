// SPDX-License-Identifier: MIT

import WebImageCore

/// The treatment of the canvas after a frame was shown. The raw values are those of APNG.
enum FrameDisposal: UInt8, Sendable {
    case keep
    case background
    case previous
}

/// A description of how a frame changes the canvas.
struct FrameOperation: Sendable {
    /// The position and size of the frame, which may extend beyond the canvas.
    var rect: PixelRect
    var disposal: FrameDisposal
    /// Whether each pixel of the frame replaces the pixel below it.
    var replaces: Bool
}

/// The frames of an animation that can be drawn without drawing the frames before them.
struct KeyframeIndex: Sendable {
    /// For each frame, whether the canvas is empty before the frame.
    private var startsClear: [Bool] = []
    /// For each frame, whether its header claims to cover the whole canvas and later frames don't depend on the canvas
    /// before it.
    private var covers: [Bool] = []
    private let canvas: PixelRect
    /// The way the last frame changes the canvas.
    private var last: FrameOperation?

    init(_ steps: [FrameOperation] = [], canvas size: PixelSize) {
        canvas = PixelRect(x: 0, y: 0, width: size.width, height: size.height)
        startsClear.reserveCapacity(steps.count)
        covers.reserveCapacity(steps.count)
        for step in steps { append(step) }
    }

    var count: Int { covers.count }

    mutating func append(_ step: FrameOperation) {
        if let last, let wasClear = startsClear.last {
            switch last.disposal {
            case .keep: startsClear.append(false)
            case .background: startsClear.append(wasClear || last.rect.contains(canvas))
            case .previous: startsClear.append(wasClear)
            }
        } else {
            startsClear.append(true)
        }
        covers.append(step.replaces && step.disposal != .previous && step.rect.contains(canvas))
        last = step
    }

    /// Adds the frames that only the index of a later version of the same file has.
    mutating func extend(to newer: KeyframeIndex) {
        guard newer.count > count else { return }
        startsClear += newer.startsClear.dropFirst(count)
        covers += newer.covers.dropFirst(count)
        last = newer.last
    }

    /// Returns the nearest frame at or before `index` that can be drawn on an empty canvas.
    func start(for index: Int) -> Int {
        var place = min(index, startsClear.count - 1)
        while place > 0, !startsClear[place], !covers[place] { place -= 1 }
        return max(0, place)
    }

    /// Records that frame `index` doesn't cover the whole canvas, because drawing it left holes. Returns `true` if a
    /// canvas that began with this frame is incorrect.
    mutating func foundHoles(in index: Int) -> Bool {
        guard covers[index] else { return false }
        covers[index] = false
        return !startsClear[index]
    }
}

extension PixelRect {
    func contains(_ other: PixelRect) -> Bool {
        x <= other.x && y <= other.y && x + width >= other.x + other.width && y + height >= other.y + other.height
    }
}
