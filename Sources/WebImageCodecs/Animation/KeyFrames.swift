// SPDX-License-Identifier: MIT

import WebImageCore

/// What happens to the canvas after a frame was shown; the raw values are those of APNG.
enum FrameDisposal: UInt8, Sendable {
    case keep
    case background
    case previous
}

/// How a frame meets the canvas.
struct FrameStep: Sendable {
    /// Place and size; may reach outside the canvas.
    var place: PixelRect
    var disposal: FrameDisposal
    /// Whether each of its pixels replaces what is below it.
    var replaces: Bool
}

/// Which frames can be shown without the ones before them.
struct KeyFrames: Sendable {
    /// Frames that find an empty canvas.
    private let startsClear: [Bool]
    /// Frames that say they cover the whole canvas and what follows does not look behind them.
    private var covers: [Bool]

    init(_ steps: [FrameStep], canvas size: PixelSize) {
        let canvas = PixelRect(x: 0, y: 0, width: size.width, height: size.height)
        var startsClear: [Bool] = []
        for place in steps.indices {
            guard place > 0 else {
                startsClear.append(true)
                continue
            }
            let before = steps[place - 1]
            switch before.disposal {
            case .keep: startsClear.append(false)
            case .background: startsClear.append(startsClear[place - 1] || before.place.contains(canvas))
            case .previous: startsClear.append(startsClear[place - 1])
            }
        }
        self.startsClear = startsClear
        self.covers = steps.map { $0.replaces && $0.disposal != .previous && $0.place.contains(canvas) }
    }

    /// The nearest frame at or before `index` to begin with on an empty canvas.
    func start(for index: Int) -> Int {
        var place = min(index, startsClear.count - 1)
        while place > 0, !startsClear[place], !covers[place] { place -= 1 }
        return max(0, place)
    }

    /// To be told where drawing found holes in frame `index`: it does not cover after all.
    ///
    /// - Returns: true where that makes a canvas that began with it wrong.
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
