// SPDX-License-Identifier: MIT

import Foundation

/// The files of the report: one table and one JSON file per suite, and plots.
///
/// Each run replaces only the files of its suites.
struct ReportFiles {
    private let folder: String

    init(_ settings: Settings) { folder = settings.report }

    /// Writes the files of a suite.
    func write(_ reports: [CaseReport], suite: String) throws {
        guard !reports.isEmpty else { return }
        let series = Self.series(reports)
        try write(Data(Self.table(reports, series, suite: suite).utf8), named: "\(suite).md")
        try write(try Self.json(reports), named: "\(suite).json")
        for points in series {
            for figure in points.first?.point?.figures ?? [] {
                if let plot = Self.plot(points, figure) { try write(plot, named: Self.name(points, figure)) }
            }
        }
    }

    /// Writes a plot. Spaces and periods in its name become hyphens.
    func write(_ plot: LinePlot, named name: String) throws {
        try write(Data(plot.svg.utf8), named: Self.fileName(name))
    }

    /// Returns the reports as JSON.
    static func json(_ reports: [CaseReport]) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return try encoder.encode(reports)
    }

    private func write(_ bytes: Data, named name: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try bytes.write(to: URL(filePath: "\(folder)/\(name)"))
    }

    private static func fileName(_ name: String) -> String {
        name.replacing(" ", with: "-").replacing(".", with: "-").replacing(",", with: "") + ".svg"
    }

    private static func name(_ points: [CaseReport], _ figure: Figure) -> String {
        "scale-\(points.first?.point?.series ?? "")-\(figure.rawValue)"
    }

    // MARK: Series

    /// Returns the cases of each series, in the order of their values.
    private static func series(_ reports: [CaseReport]) -> [[CaseReport]] {
        var titles: [String] = []
        for case let point? in reports.map(\.point) where !titles.contains(point.series) { titles.append(point.series) }
        return titles.map { title in
            reports.filter { $0.point?.series == title }.sorted { ($0.point?.value ?? 0) < ($1.point?.value ?? 0) }
        }
    }

    private static func plot(_ points: [CaseReport], _ figure: Figure) -> LinePlot? {
        guard let first = points.first, let place = first.point else { return nil }
        let names = first.contenders.map(\.name)
        let lines = names.map { name in
            let values = points.compactMap { report -> (x: Double, y: Double)? in
                guard let value = report.contenders.first(where: { $0.name == name })?.medians[figure],
                    let point = report.point
                else { return nil }
                return (x: Double(point.value), y: value)
            }
            return (name: name, points: values)
        }.filter { !$0.points.isEmpty }
        let values = lines.flatMap { $0.points.map(\.y) }
        guard let most = values.max(), let least = values.min() else { return nil }
        let title = "\(place.series): \(figure.words)"
        let isWide = least > 0 && most > 20 * least
        return LinePlot(
            title: title,
            horizontal: LinePlot.Axis(
                place.axis, labels: points.compactMap(\.point).map { (Double($0.value), grouped($0.value)) },
                isLogarithmic: true),
            vertical: isWide
                ? .logarithmic("", values, text: figure.text) : .linear("", values, text: figure.text),
            lines: lines)
    }

    // MARK: Tables

    private static func table(_ reports: [CaseReport], _ series: [[CaseReport]], suite: String) -> String {
        var text = "# \(suite)\n\n`make benchmarks SUITES=\(suite)` replaces this file. The values are medians.\n"
        for points in series { text += "\n" + table(points) }
        let others = reports.filter { $0.point == nil }
        if !others.isEmpty {
            text += "\n| case | contender | results |\n|---|---|---|\n"
            for report in others {
                for contender in report.contenders {
                    text += "| \(report.name) | \(contender.name) | \(figures(report, contender)) |\n"
                }
            }
        }
        let verdicts = reports.flatMap { report in report.verdicts.map { (report.name, $0.text) } }
        guard !verdicts.isEmpty else { return text }
        text += "\n| case | goal |\n|---|---|\n"
        for (name, verdict) in verdicts { text += "| \(name) | \(verdict) |\n" }
        return text
    }

    private static func table(_ points: [CaseReport]) -> String {
        guard let place = points.first?.point else { return "" }
        var text = "## \(place.series)\n\n| \(place.axis) | contender | results |\n|---|---|---|\n"
        for report in points {
            for contender in report.contenders {
                text += "| \(grouped(report.point?.value ?? 0)) | \(contender.name) | \(figures(report, contender)) |\n"
            }
        }
        for figure in place.figures {
            text += "\n![\(place.series): \(figure.words)](\(fileName(name(points, figure))))\n"
        }
        return text
    }

    private static func figures(_ report: CaseReport, _ contender: ContenderReport) -> String {
        contender.medians.sorted { $0.key.rawValue < $1.key.rawValue }.map { figure, value in
            "\(figure.rawValue) \(figure.text(value))\(report.ratio(figure, contender))"
        }.joined(separator: ", ")
    }
}

/// Returns a number with commas between groups of three digits.
func grouped(_ number: Int) -> String {
    let digits = String(number.magnitude)
    var text = ""
    for (index, digit) in digits.enumerated() {
        if index > 0, (digits.count - index) % 3 == 0 { text += "," }
        text.append(digit)
    }
    return number < 0 ? "-" + text : text
}
