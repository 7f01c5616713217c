// SPDX-License-Identifier: MIT

import WebImageCore

/// Which frames can be shown without the ones before them.
struct GIFKeyFrames: Sendable {
    /// Frames that find an empty canvas.
    private let startsClear: [Bool]
    /// Frames that say they cover the whole canvas and what follows does not look behind them.
    private var covers: [Bool]

    init(_ index: GIFIndex) {
        let canvas = PixelRect(x: 0, y: 0, width: index.canvasSize.width, height: index.canvasSize.height)
        var startsClear: [Bool] = []
        for place in index.frames.indices {
            guard place > 0 else {
                startsClear.append(true)
                continue
            }
            let before = index.frames[place - 1]
            switch before.disposal {
            case .keep: startsClear.append(false)
            case .background: startsClear.append(startsClear[place - 1] || before.place.contains(canvas))
            case .previous: startsClear.append(startsClear[place - 1])
            }
        }
        self.startsClear = startsClear
        self.covers = index.frames.map {
            $0.transparentIndex == nil && $0.disposal != .previous && $0.place.contains(canvas)
        }
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
