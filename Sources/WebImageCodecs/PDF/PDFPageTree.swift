// SPDX-License-Identifier: MIT

#if PDF
    import WebImageCore

    /// The page tree of a document.
    struct PDFPageTree {
        private(set) var count = 0
        /// The entries of the page with the index, including the inherited ones.
        private(set) var page: [String: PDFValue]?
        private let index: Int
        private var visited: Set<Int> = []
        private var nodes = 0

        init(_ file: PDFFile, index: Int) throws(ImageError) {
            self.index = index
            let catalog = try file.resolve(file.trailer["Root"]).dictionary
            try visit(catalog["Pages"], [:], 0, file)
        }

        private mutating func visit(
            _ value: PDFValue?, _ inherited: [String: PDFValue], _ depth: Int, _ file: PDFFile
        ) throws(ImageError) {
            if case .reference(let number)? = value {
                // A page tree with a cycle ends here.
                guard visited.insert(number).inserted else { return }
            }
            nodes += 1
            try DrawingBounds.check(nodes, PDFBounds.pages, "nodes of a PDF page tree")
            try DrawingBounds.check(depth, PDFBounds.nesting, "nested nodes of a PDF page tree")
            var entries = try file.resolve(value).dictionary
            guard !entries.isEmpty else { return }
            for key in ["MediaBox", "CropBox", "Resources", "Rotate"] where entries[key] == nil {
                entries[key] = inherited[key]
            }
            guard entries["Kids"] != nil, entries["Type"] != .name("Page") else {
                if count == index { page = entries }
                count += 1
                return
            }
            for child in try file.list(entries["Kids"]) { try visit(child, entries, depth + 1, file) }
        }
    }
#endif
