// SPDX-License-Identifier: MIT

import Foundation

/// The files of the tests, from which fuzzing starts.
package enum FixtureFiles {
    /// Returns the images of at most 20,000 bytes in `Tests/Fixtures`.
    package static let images: @Sendable () -> [Data] = { files { !$0.hasSuffix(".rgba") && !$0.hasSuffix(".rgb") } }

    /// Returns the files of at most 20,000 bytes in `Tests/Fixtures` whose paths `isIncluded` accepts.
    package static func files(where isIncluded: (String) -> Bool) -> [Data] {
        contents("Tests/Fixtures", where: isIncluded)
    }

    /// Returns the committed inputs of a target, which are in `Fuzz/Corpora`.
    static func corpus(_ target: String) -> [Data] { contents("Fuzz/Corpora/\(target)") { _ in true } }

    private static func contents(_ directory: String, where isIncluded: (String) -> Bool) -> [Data] {
        let root = URL(filePath: directory)
        let paths = FileManager.default.subpaths(atPath: root.path()) ?? []
        return paths.sorted().filter(isIncluded).compactMap { path in
            guard let data = try? Data(contentsOf: root.appending(path: path)), (1...20_000).contains(data.count)
            else { return nil }
            return data
        }
    }
}
