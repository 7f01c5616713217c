// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCommand
import WebImagePrograms

/// The command `webimage show`.
struct ShowCommand: Sendable {
    private let options: ShowOptions
    private let reader: ImageReader
    private let drawing: TerminalDrawing
    private let console: Console
    private let interruption: SignalHandler

    init(
        _ options: ShowOptions, isVerbose: Bool, _ console: Console, _ interruption: SignalHandler
    ) throws(UsageError) {
        self.options = options
        self.console = console
        self.interruption = interruption
        reader = ImageReader(
            try NetworkSetup(options.network, operands: options.inputs), cache: options.cache, isVerbose: isVerbose)
        drawing = Self.drawing(options, console.out, console.color)
    }

    func run() async -> Int32 {
        await interruption.cancelling { [self] in
            var status = ExitStatus.ok
            for input in options.inputs where !Task.isCancelled {
                do throws(ImageError) {
                    let image = try await self.image(input)
                    if options.inputs.count > 1 { console.remark(Inputs.shortName(input)) }
                    try await show(image)
                } catch {
                    guard !Task.isCancelled else { break }
                    console.report("\(Inputs.shortName(input)): \(error)")
                    status = ExitStatus.failed
                }
            }
            return await reader.finished(status, console)
        }
    }

    /// Returns the style, the cell grid, and the number of colors. The output to a file or pipe consists of plain
    /// characters unless the user requested a style.
    private static func drawing(
        _ options: ShowOptions, _ out: TerminalStyle, _ color: ColorChoice
    ) -> TerminalDrawing {
        let abilities = TerminalAbilities.current
        let style = options.style ?? (out.isTerminal ? abilities.best : .symbols)
        let colors: Int
        switch (out.isTerminal, options.style) {
        case (true, _): colors = out.hasColor ? abilities.colors : 0
        case (false, .symbols): colors = color == .never ? 0 : 1 << 24
        case (false, _): colors = color == .always ? 1 << 24 : 0
        }
        // Reserve a row for the shell prompt and one for the name.
        let rows = max(1, out.rows - (options.inputs.count > 1 ? 2 : 1))
        let columns = out.columns == .max ? 80 : out.columns
        let limit = CellCount(columns: options.columns ?? min(columns, 1_000), rows: options.rows ?? min(rows, 1_000))
        return TerminalDrawing(
            grid: CellGrid(style: style, limit: limit, cell: TerminalStyle.cell(of: STDOUT_FILENO)), colors: colors)
    }

    private var plays: Bool {
        console.out.isTerminal && !options.isStill && options.frames?.singleIndex == nil
    }

    private func image(_ input: String) async throws(ImageError) -> DecodedImage {
        let data = try await reader.data(input)
        let context = ImageProcessingContext(limits: reader.limits)
        // Without a terminal, only the first of the selected frames is shown.
        var frames: FrameSelection = plays ? .all : .first
        if let index = options.frames?.singleIndex { frames = .index(index) }
        let selection = options.frames?.singleIndex == nil ? options.frames : nil
        if selection != nil { frames = .all }
        let decoding = ImageDecodingOptions(size: drawing.grid.target, frames: frames)
        return try await BlockingWork.run { () throws(ImageError) in
            let image = try ImageCoderRegistry.standard.decode(data, options: decoding, context: context)
            guard let selection else { return image }
            return try image.selecting(.indices(try selection.indices(count: image.frameCount)))
        }
    }

    private func show(_ image: DecodedImage) async throws(ImageError) {
        let natural = image.metadata.orientation.upright(image.metadata.storedSize)
        let cells = drawing.grid.cells(decoded: image.size, natural: natural)
        let text = { @Sendable [options, drawing] (pixels: PixelBuffer) throws(ImageError) -> String in
            let straight = try CellPixels(pixels, on: options.background, grid: drawing.grid, cells: cells)
            return try drawing.text(straight, cells: cells)
        }
        if plays, let animation = image.animation {
            return try await play(animation, rows: cells.rows, text)
        }
        let picture = try await BlockingWork.run { () throws(ImageError) in try text(image.pixels) }
        let screen = ScreenArea(rows: cells.rows)
        // The position of the cursor after an image depends on the terminal.
        let isPlaced = console.out.isTerminal && drawing.grid.style != .symbols
        console.write(isPlaced ? screen.opening + picture + screen.closing : picture + "\n")
    }

    private func play(
        _ animation: ImageAnimation, rows: Int, _ text: @escaping @Sendable (PixelBuffer) throws(ImageError) -> String
    ) async throws(ImageError) {
        // With several inputs, an animation that repeats indefinitely would block the next input.
        let stored = animation.loopCount
        let loops = options.loops ?? (options.inputs.count > 1 ? max(1, stored) : stored)
        let screen = ScreenArea(rows: rows)
        let keyboard = Keyboard()
        interruption.beforeForcedEnd {
            keyboard.end()
            let closing = Array(ScreenArea.cursorShown.utf8)
            _ = closing.withUnsafeBytes { Foundation.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
        }
        let schedule = PlaySchedule(animation.timeline, loops: loops)
        console.write(ScreenArea.cursorHidden + screen.opening)
        defer {
            keyboard.end()
            console.write(screen.closing + ScreenArea.cursorShown)
            interruption.beforeForcedEnd(nil)
        }
        let result = await withTaskCancellationHandler {
            await played(schedule, keyboard) { frame throws(ImageError) in
                screen.start + (try text(try animation.frame(at: frame)))
            }
        } onCancel: {
            keyboard.interrupt()
        }
        try result.get()
    }

    private func played(
        _ schedule: PlaySchedule, _ keyboard: Keyboard,
        _ text: @escaping @Sendable (Int) throws(ImageError) -> String
    ) async -> Result<Void, ImageError> {
        do throws(ImageError) {
            try await BlockingWork.run { [console] () throws(ImageError) in
                let start = ContinuousClock.now
                let player = FramePlayer(
                    schedule, now: { Int(start.duration(to: .now) / .milliseconds(1)) }, wait: keyboard.wait)
                _ = try player.play { frame throws(ImageError) in console.writeAndWait(try text(frame)) }
            }
            return .success(())
        } catch {
            return .failure(error)
        }
    }
}
