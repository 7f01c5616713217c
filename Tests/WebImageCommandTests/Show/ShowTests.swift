// SPDX-License-Identifier: MIT

import Testing
import WebImageCore

@testable import WebImageCommand

@Suite("Terminal output: Options, cells, and timing")
struct ShowTests {
    private func options(_ words: String...) throws -> ShowOptions {
        try ShowOptions(Arguments(words, for: Commands.show))
    }

    @Test("Options are parsed, and the terminal determines omitted values")
    func options() throws {
        let plain = try options("a.png")
        #expect(plain.style == nil && plain.columns == nil && plain.rows == nil && plain.frames == nil)
        #expect(plain.background == .terminal && plain.loops == nil)
        let all = try options("--format", "sixels", "--size", "40x", "-b", "#102030", "--still", "a", "b")
        #expect(all.style == .sixels && all.columns == 40 && all.rows == nil && all.isStill)
        #expect(
            all.background == .color(PixelColor(red: 16, green: 32, blue: 48)) && all.inputs.operands == ["a", "b"])
        #expect(try options("-f", "auto", "-b", "checkerboard", "--loop", "0", "a").loops == 0)
    }

    @Test(
        "Invalid and contradictory options are rejected",
        arguments: [
            [], ["--format", "gif", "a"], ["--size", "0x4", "a"], ["--size", "1001x4", "a"], ["--size", "x", "a"],
            ["-b", "clear", "a"], ["--frames", "-1", "a"], ["--loop", "2", "--still", "a"],
            ["--frames", "1", "--still", "a"],
        ])
    func refused(_ words: [String]) {
        #expect(throws: UsageError.self) { try ShowOptions(Arguments(words, for: Commands.show)) }
    }

    @Test("Cells keep the proportions of the image and use at most one column per pixel")
    func cells() {
        let grid = CellGrid(style: .symbols, limit: CellCount(columns: 80, rows: 24), cell: nil)
        #expect(grid.target == .fit(width: 640, height: 384))
        let wide = PixelSize(width: 4_000, height: 1_000)
        #expect(
            grid.cells(decoded: PixelSize(width: 640, height: 160), natural: wide) == CellCount(columns: 80, rows: 10))
        let icon = PixelSize(width: 16, height: 16)
        #expect(grid.cells(decoded: icon, natural: icon) == CellCount(columns: 16, rows: 8))
        let line = PixelSize(width: 4_000, height: 1)
        #expect(
            grid.cells(decoded: PixelSize(width: 640, height: 1), natural: line) == CellCount(columns: 80, rows: 1))
        let square = CellGrid(
            style: .symbols, limit: CellCount(columns: 80, rows: 24), cell: PixelSize(width: 10, height: 10))
        #expect(square.cells(decoded: icon, natural: icon) == CellCount(columns: 16, rows: 16))
        let pixels = CellGrid(
            style: .sixels, limit: CellCount(columns: 80, rows: 24), cell: PixelSize(width: 9, height: 18))
        #expect(pixels.target == .fit(width: 720, height: 432))
        #expect(
            pixels.cells(decoded: PixelSize(width: 19, height: 18), natural: icon) == CellCount(columns: 3, rows: 1))
    }

    @Test("Premultiplied pixels are converted to straight alpha or drawn on the background")
    func pixels() throws {
        let canvas = try PixelCanvas(size: PixelSize(width: 2, height: 1))
        canvas.withUnsafeMutableBytes { $0.copyBytes(from: [100, 50, 0, 128, 0, 0, 0, 0]) }
        let buffer = canvas.finish(isOpaque: false)
        let grid = CellGrid(style: .symbols, limit: CellCount(columns: 2, rows: 1), cell: nil)
        let cells = CellCount(columns: 2, rows: 1)
        let straight = try CellPixels(buffer, on: .terminal, grid: grid, cells: cells)
        #expect(straight.bytes == [199, 100, 0, 128, 0, 0, 0, 0])
        let white = try CellPixels(buffer, on: .color(.white), grid: grid, cells: cells)
        #expect(white.bytes == [227, 177, 127, 255, 255, 255, 255, 255])
        let sixels = CellGrid(style: .sixels, limit: cells, cell: PixelSize(width: 2, height: 3))
        let padded = try CellPixels(buffer, on: .terminal, grid: sixels, cells: CellCount(columns: 1, rows: 1))
        #expect(padded.width == 2 && padded.height == 3 && padded.bytes[8...].allSatisfy { $0 == 0 })
    }

    @Test("Frames are shown in order, each for its duration, for the requested number of loops")
    func order() throws {
        let schedule = PlaySchedule(AnimationTimeline(loopCount: 0, durations: [100, 50, 20]), loops: 2)
        var clock = 7
        var shown: [[Int]] = []
        let player = FramePlayer(
            schedule, now: { clock },
            wait: { time in
                clock += time
                return .time
            })
        #expect(try player.play { shown.append([clock - 7, $0]) } == .time)
        #expect(shown == [[0, 0], [100, 1], [150, 2], [170, 0], [270, 1], [320, 2]])
        #expect(clock == 347)
    }

    @Test("A slow terminal skips frames but never the last one")
    func late() throws {
        let schedule = PlaySchedule(AnimationTimeline(loopCount: 1, durations: [10, 10, 10, 10]), loops: 1)
        var clock = 0
        var shown: [Int] = []
        let player = FramePlayer(
            schedule, now: { clock },
            wait: { time in
                clock += time
                return .time
            })
        _ = try player.play {
            shown.append($0)
            clock += 25
        }
        #expect(shown == [0, 2, 3])
    }

    @Test("An endless animation plays until a key is pressed")
    func forEver() throws {
        let schedule = PlaySchedule(AnimationTimeline(loopCount: 0, durations: [40, 40]), loops: 0)
        var clock = 0
        let player = FramePlayer(
            schedule, now: { clock },
            wait: { time in
                clock += time
                return clock > 1_000_000 ? .key : .time
            })
        var count = 0
        #expect(try player.play { _ in count += 1 } == .key)
        #expect(count == 25_001)
    }
}
