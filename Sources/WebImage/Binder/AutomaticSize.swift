// SPDX-License-Identifier: MIT

import WebImageCore

/// The place that a view has on the screen.
public struct ViewAllocation: Sendable, Hashable {
    /// Width in points; 0 where it is left to the picture.
    public var width: Double
    /// Height in points; 0 where it is left to the picture.
    public var height: Double
    /// Device pixels per point. Default 1.
    public var scaleFactor: Double

    /// An allocation in points.
    public init(width: Double, height: Double, scaleFactor: Double = 1) {
        self.width = width
        self.height = height
        self.scaleFactor = scaleFactor
    }
}

/// How the size to decode to follows from the place a view has.
public enum AutomaticSize: Sendable, Hashable {
    /// Not at all: the picture's full size, loaded without waiting for a place.
    case none
    /// The whole picture in the place (``TargetSize/fit(width:height:unit:)``).
    case fit
    /// The place covered (``TargetSize/fill(width:height:unit:)``). A view whose proportions change by more than a tenth
    /// loads again, for it needs another part of the picture.
    case fill
}

/// A place in device pixels; a side that is nil is free, at most one is.
struct PixelBox: Equatable {
    var width: Int?
    var height: Int?

    /// Whether a side is free.
    var isOpen: Bool { width == nil || height == nil }

    /// Nil for a place without extent, or one that is no number.
    init?(_ allocation: ViewAllocation) {
        func pixels(_ points: Double) -> Int? {
            let length = points * allocation.scaleFactor
            // 2^20 is beyond every screen and within what every computation holds.
            guard length.isFinite, length > 0 else { return nil }
            return max(1, Int(min(length, 1_048_576).rounded(.up)))
        }
        width = pixels(allocation.width)
        height = pixels(allocation.height)
        if width == nil, height == nil { return nil }
    }
}

extension AutomaticSize {
    /// What is loaded for `box`; nil for the full size.
    func target(for box: PixelBox) -> TargetSize? {
        switch (self, box.width, box.height) {
        case (.none, _, _): nil
        case (.fill, let width?, let height?): .fill(width: Double(width), height: Double(height))
        case (_, let width, let height): .fit(width: width.map(Double.init), height: height.map(Double.init))
        }
    }

    /// Whether a load for `asked` that is under way will not do for `box`.
    func outgrows(_ asked: PixelBox, by box: PixelBox) -> Bool {
        guard self != .none else { return false }
        // What was fitted to one side need not cover both.
        if self == .fill, asked.isOpen, !box.isOpen { return true }
        return changesPart(asked, box) || grows(asked.width, box.width) || grows(asked.height, box.height)
    }

    /// Whether `shown`, which was loaded for `asked`, will not do for `box`: it would be enlarged by more than a
    /// quarter, and there is more to be had.
    func outgrows(_ shown: Image, loadedFor asked: PixelBox, by box: PixelBox) -> Bool {
        guard outgrows(asked, by: box) else { return false }
        let raw = shown.metadata.rawSize
        if shown.size == raw || shown.size == raw.transposed { return false }
        if changesPart(asked, box) { return true }
        let across = box.width.map { Double($0) / Double(shown.size.width) }
        let down = box.height.map { Double($0) / Double(shown.size.height) }
        let factors = [across, down].compactMap { $0 }
        return (self == .fill ? factors.max() : factors.min()) ?? 0 > Self.tolerance
    }

    private static let tolerance = 1.25

    private func grows(_ old: Int?, _ new: Int?) -> Bool {
        // A free side is as long as can be.
        guard let old else { return false }
        guard let new else { return true }
        return Double(new) > Double(old) * Self.tolerance
    }

    private func changesPart(_ old: PixelBox, _ new: PixelBox) -> Bool {
        guard self == .fill, let oldWidth = old.width, let oldHeight = old.height, let newWidth = new.width,
            let newHeight = new.height
        else { return false }
        let change = Double(newWidth) * Double(oldHeight) / (Double(newHeight) * Double(oldWidth))
        return change > 1.1 || change < 1 / 1.1
    }
}
