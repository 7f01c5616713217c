// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCommand
import WebImagePrograms

/// The display of images in the terminal, one after another.
struct ImageDisplay: Sendable {
    let options: ShowOptions
    let drawing: TerminalDrawing
    let reader: ImageReader
    let isSingle: Bool
    let console: Console
    let interruption: SignalHandler

    private var plays: Bool {
        console.out.isTerminal && options.grid == nil && !options.isStill && options.frames?.singleIndex == nil
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
        let cells = cells(image)
        let text = { @Sendable [options, drawing] (pixels: PixelBuffer) throws(ImageError) -> String in
            let straight = try CellPixels(pixels, on: options.background, grid: drawing.grid, cells: cells)
            return try drawing.text(straight, cells: cells)
        }
        if plays, let animation = image.animation {
            return try await play(animation, rows: cells.rows, text)
        }
        write(try await BlockingWork.run { () throws(ImageError) in try text(image.pixels) }, rows: cells.rows)
    }

    /// Writes the text of an image that occupies a number of rows.
    func write(_ text: String, rows: Int) {
        let screen = ScreenArea(rows: rows)
        // The position of the cursor after an image depends on the terminal.
        let isPlaced = console.out.isTerminal && drawing.grid.style != .symbols
        console.write(isPlaced ? screen.opening + text + screen.closing : text + "\n")
    }

    /// Returns the number of cells that an image occupies.
    func cells(_ image: DecodedImage) -> CellCount {
        let natural = image.metadata.orientation.upright(image.metadata.storedSize)
        return drawing.grid.cells(decoded: image.size, natural: natural)
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
