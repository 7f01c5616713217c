// SPDX-License-Identifier: MIT

import WebImage
import WebImageCommand
import WebImagePrograms

/// The number of shown images, and the exit status.
struct ShowResult: Sendable {
    var shown = 0
    /// The number of rows of a grid.
    var drawnRows = 0
    var status = ExitStatus.ok
}

/// The display of images as a grid. Each row is drawn when all of its images are decoded.
struct GridDisplay: Sendable {
    let layout: GridLayout
    let display: ImageDisplay

    /// An image, or the message that replaces it, with the error to report.
    private struct Entry: Sendable {
        let input: ImageInput
        let item: GridItem
        var error: ImageError?
    }

    private var console: Console { display.console }

    /// Shows all inputs. At most `window` images wait in memory for an earlier one.
    func show(_ run: InputRun, window: Int) async -> ShowResult {
        var result = ShowResult()
        var row: [Entry] = []
        await run.each(window: window) { _, input in
            await entry(input)
        } deliver: { entry in
            guard !Task.isCancelled else { return }
            row.append(entry)
            guard row.count == layout.columns else { return }
            await draw(row, &result)
            row = []
        }
        if !row.isEmpty, !Task.isCancelled { await draw(row, &result) }
        return result
    }

    private func entry(_ input: ImageInput) async -> Entry {
        let name = Inputs.lastPart(input.label)
        do throws(ImageError) {
            let image = try await display.image(try await display.reader.data(input), display.reader.coders(for: input))
            let item = try await BlockingWork.run { [display] () throws(ImageError) in
                try GridItem(
                    name: name, image.pixels, cells: display.cells(image), on: display.options.background,
                    display.drawing)
            }
            return Entry(input: input, item: item)
        } catch {
            return Entry(
                input: input, item: GridItem(name: name, content: .failed(reason: error.briefReason)), error: error)
        }
    }

    /// Draws a row, and reports the errors of its images after it.
    private func draw(_ entries: [Entry], _ result: inout ShowResult) async {
        let row = GridRow(entries.map(\.item), layout: layout, drawing: display.drawing)
        let style = console.out
        do throws(ImageError) {
            let text = try await BlockingWork.run { () throws(ImageError) in try row.images(style) }
            if result.drawnRows > 0 { console.print("") }
            display.write(text, rows: row.height)
            console.print(row.names(style))
            result.drawnRows += 1
            result.shown += entries.count { $0.error == nil }
        } catch {
            console.report(nil, error)
            result.status = ExitStatus.failed
        }
        for entry in entries {
            guard let error = entry.error else { continue }
            console.report(entry.input.label, error)
            result.status = ExitStatus.failed
        }
        // Rows don't accumulate in memory while a terminal or the reader of a pipe is slow.
        await console.flush()
    }
}
