// SPDX-License-Identifier: MIT

import Foundation

/// A writer of PDF documents with one page of 100 × 100 points.
///
/// Object 1 is the catalog, object 2 is the page tree, and object 3 is the page. Other objects begin at number 4.
struct PDFSample {
    private var objects: [Data] = []
    private var page = "/MediaBox [0 0 100 100]"

    /// Creates a document with a page whose content is the first object.
    init(content: String, resources: String = "", page: String? = nil) {
        if let page { self.page = page }
        addStream(content)
        self.page += " /Contents 4 0 R /Resources << \(resources) >>"
    }

    /// Adds an object, and returns its number.
    @discardableResult
    mutating func add(_ text: String) -> Int {
        objects.append(Data(text.utf8))
        return objects.count + 3
    }

    /// Adds a stream, and returns its number.
    @discardableResult
    mutating func addStream(_ content: String, _ entries: String = "") -> Int {
        addStream(Data(content.utf8), entries)
    }

    @discardableResult
    mutating func addStream(_ data: Data, _ entries: String = "") -> Int {
        objects.append(Data("<< \(entries) /Length \(data.count) >>\nstream\n".utf8) + data + Data("\nendstream".utf8))
        return objects.count + 3
    }

    /// Adds a form of 100 × 100 points, and returns its number.
    @discardableResult
    mutating func addForm(_ content: String, _ entries: String = "", resources: String = "") -> Int {
        addStream(
            content, "/Type /XObject /Subtype /Form /BBox [0 0 100 100] \(entries) /Resources << \(resources) >>")
    }

    /// The document with a cross-reference table.
    var data: Data { data(trailer: "") }

    /// Returns the document.
    ///
    /// - Parameter trailer: More entries of the trailer.
    func data(trailer: String) -> Data {
        let first = [
            "<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            "<< /Type /Page /Parent 2 0 R \(page) >>",
        ]
        var output = Data("%PDF-1.7\n".utf8)
        var offsets: [Int] = []
        for (place, object) in (first.map { Data($0.utf8) } + objects).enumerated() {
            offsets.append(output.count)
            output += Data("\(place + 1) 0 obj\n".utf8) + object + Data("\nendobj\n".utf8)
        }
        let table = output.count
        output += Data("xref\n0 \(offsets.count + 1)\n0000000000 65535 f \n".utf8)
        for offset in offsets {
            let digits = String(offset)
            output += Data((String(repeating: "0", count: 10 - digits.count) + digits + " 00000 n \n").utf8)
        }
        let end = "trailer\n<< /Size \(offsets.count + 1) /Root 1 0 R \(trailer) >>\nstartxref\n\(table)\n%%EOF\n"
        return output + Data(end.utf8)
    }
}
