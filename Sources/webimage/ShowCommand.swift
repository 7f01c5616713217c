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
            guard await reader.preparationError(console) == nil else { return ExitStatus.failed }
            // Read the next images while one is displayed. The images of a grid are also decoded in advance.
            let processors = ProcessInfo.processInfo.activeProcessorCount
            let run = await InputRun.resolve(options.inputs, jobs: options.grid == nil ? 2 : processors, console)
            let result = if let grid = options.grid { await self.grid(grid, run) } else { await sequence(run) }
            let status = await reader.finished(result.status, console)
            // Ctrl-C is also the way to end an animation, so report only unfinished downloads.
            if interruption.isBySignal, result.shown < run.list.inputs.count,
                run.list.inputs.contains(where: \.isDownload)
            {
                let message = InterruptionMessage(result.shown, of: run.list.inputs, "shown")
                console.writeError(message.text(kept: await reader.keptDownloads()))
            }
            return status
        }
    }

    /// Shows the images one after another. Returns the number of shown images and the exit status.
    private func sequence(_ run: InputRun) async -> ShowResult {
        let count = run.list.inputs.count
        // Reserve a row for the shell prompt and one for the name.
        let screen = Self.screen(console.out, reservedRows: count == 1 ? 1 : 2)
        let limit = CellCount(columns: options.columns ?? screen.columns, rows: options.rows ?? screen.rows)
        let display = ImageDisplay(
            options: options, drawing: Self.drawing(options, limit, console.out, console.color), reader: reader,
            isSingle: count == 1, console: console, interruption: interruption)
        var result = ShowResult()
        await run.each(window: 2 * run.jobs) { _, input in
            (input, await data(input))
        } deliver: { input, data in
            guard !Task.isCancelled else { return }
            do throws(ImageError) {
                let image = try await display.image(try data.get(), reader.coders(for: input))
                if count > 1 { console.remark(input.label) }
                result.shown += 1
                try await display.show(image)
            } catch {
                guard !Task.isCancelled else { return }
                console.report(input.label, error)
                result.status = ExitStatus.failed
            }
        }
        return result
    }

    /// Shows the images as a grid. Returns the number of shown images and the exit status.
    private func grid(_ grid: GridArgument, _ run: InputRun) async -> ShowResult {
        let screen = Self.screen(console.out, reservedRows: 1)
        let drawing = Self.drawing(options, screen, console.out, console.color)
        let layout = GridLayout(
            grid, count: run.list.inputs.count, limit: (options.columns, options.rows), screen: screen,
            pixels: drawing.grid.cell)
        let display = ImageDisplay(
            options: options,
            drawing: TerminalDrawing(grid: drawing.grid.limited(to: layout.cell), colors: drawing.colors),
            reader: reader, isSingle: false, console: console, interruption: interruption)
        let rows = GridDisplay(layout: layout, display: display)
        return await rows.show(run, window: run.jobs + 2 * layout.columns)
    }

    private func data(_ input: ImageInput) async -> Result<Data, ImageError> {
        do throws(ImageError) {
            return .success(try await reader.data(input))
        } catch {
            return .failure(error)
        }
    }

    /// Returns the size of the terminal, or of a common one, without the reserved rows.
    private static func screen(_ out: TerminalStyle, reservedRows: Int) -> CellCount {
        CellCount(
            columns: min(out.columns == .max ? 80 : out.columns, 1_000),
            rows: min(max(1, out.rows - reservedRows), 1_000))
    }

    /// Returns the style, the cell grid, and the number of colors. The output to a file or pipe consists of plain
    /// characters unless the user requested a style.
    private static func drawing(
        _ options: ShowOptions, _ limit: CellCount, _ out: TerminalStyle, _ color: ColorChoice
    ) -> TerminalDrawing {
        let abilities = TerminalAbilities.current
        let style = options.style ?? (out.isTerminal ? abilities.best : .symbols)
        let colors: Int
        switch (out.isTerminal, options.style) {
        case (true, _): colors = out.hasColor ? abilities.colors : 0
        case (false, .symbols): colors = color == .never ? 0 : 1 << 24
        case (false, _): colors = color == .always ? 1 << 24 : 0
        }
        return TerminalDrawing(
            grid: CellGrid(style: style, limit: limit, cell: TerminalStyle.cell(of: STDOUT_FILENO)), colors: colors)
    }
}
