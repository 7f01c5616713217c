// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCommand
import WebImagePrograms

/// The command `webimage show`.
struct ShowCommand: Sendable {
    private let options: ShowOptions
    private let reader: ImageReader
    private let console: Console
    private let interruption: SignalHandler

    init(
        _ options: ShowOptions, isVerbose: Bool, _ console: Console, _ interruption: SignalHandler
    ) throws(UsageError) {
        self.options = options
        self.console = console
        self.interruption = interruption
        reader = ImageReader(
            try NetworkSetup(options.network, operands: options.inputs.operands), cache: options.cache,
            isVerbose: isVerbose)
    }

    func run() async -> Int32 {
        await interruption.cancelling { [self] in
            guard await reader.isPrepared(console) else { return ExitStatus.failed }
            // Read the next images while one is displayed.
            let run = await InputRun.resolve(options.inputs, jobs: 2, console)
            let count = run.list.inputs.count
            let drawing = Self.drawing(options, console.out, console.color, isSingle: count == 1)
            let display = ImageDisplay(
                options: options, drawing: drawing, reader: reader, isSingle: count == 1, console: console,
                interruption: interruption)
            var status = ExitStatus.ok
            var shown = 0
            await run.each { _, input in
                (input, await data(input))
            } deliver: { input, data in
                guard !Task.isCancelled else { return }
                do throws(ImageError) {
                    let image = try await display.image(try data.get(), reader.coders(for: input))
                    if count > 1 { console.remark(input.label) }
                    shown += 1
                    try await display.show(image)
                } catch {
                    guard !Task.isCancelled else { return }
                    console.report(input.label, error)
                    status = ExitStatus.failed
                }
            }
            status = await reader.finished(status, console)
            // Ctrl-C is also the way to end an animation, so report only unfinished downloads.
            if interruption.isBySignal, shown < count, run.list.inputs.contains(where: \.isDownload) {
                let message = InterruptionMessage(shown, of: run.list.inputs, "shown")
                console.writeError(message.text(kept: await reader.keptDownloads()))
            }
            return status
        }
    }

    private func data(_ input: ImageInput) async -> Result<Data, ImageError> {
        do throws(ImageError) {
            return .success(try await reader.data(input))
        } catch {
            return .failure(error)
        }
    }

    /// Returns the style, the cell grid, and the number of colors. The output to a file or pipe consists of plain
    /// characters unless the user requested a style.
    private static func drawing(
        _ options: ShowOptions, _ out: TerminalStyle, _ color: ColorChoice, isSingle: Bool
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
        let rows = max(1, out.rows - (isSingle ? 1 : 2))
        let columns = out.columns == .max ? 80 : out.columns
        let limit = CellCount(columns: options.columns ?? min(columns, 1_000), rows: options.rows ?? min(rows, 1_000))
        return TerminalDrawing(
            grid: CellGrid(style: style, limit: limit, cell: TerminalStyle.cell(of: STDOUT_FILENO)), colors: colors)
    }
}

/// The display of images in the terminal, one after another.
private struct ImageDisplay: Sendable {
    let options: ShowOptions
    let drawing: TerminalDrawing
    let reader: ImageReader
    let isSingle: Bool
    let console: Console
    let interruption: SignalHandler

    private var plays: Bool {
        console.out.isTerminal && !options.isStill && options.frames?.singleIndex == nil
    }

    /// Decodes an image at its displayed size.
    func image(_ data: Data, _ coders: ImageCoderRegistry) async throws(ImageError) -> DecodedImage {
        // Without a terminal, only the first of the selected frames is shown.
        var frames: FrameSelection = plays ? .all : .first
        if let index = options.frames?.singleIndex { frames = .index(index) }
        let selection = options.frames?.singleIndex == nil ? options.frames : nil
        if selection != nil { frames = .all }
        let decoding = ImageDecodingOptions(size: drawing.grid.target, frames: frames)
        return try await BlockingWork.run(reader.limits) { (context) throws(ImageError) in
            let image = try coders.decode(data, options: decoding, context: context)
            guard let selection else { return image }
            return try image.selecting(.indices(try selection.indices(count: image.frameCount)))
        }
    }

    /// Draws an image, or plays an animation.
    func show(_ image: DecodedImage) async throws(ImageError) {
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
        let loops = options.loops ?? (isSingle ? stored : max(1, stored))
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
