// SPDX-License-Identifier: MIT

import Foundation

/// The files of the tests, from which fuzzing starts.
package enum FixtureFiles {
    /// Returns the images of at most 20,000 bytes in `Tests/Fixtures`.
    package static let images: @Sendable () -> [Data] = { files { _ in true } }

    /// Returns the files of at most 20,000 bytes in `Tests/Fixtures` whose paths `isIncluded` accepts.
    package static func files(where isIncluded: (String) -> Bool) -> [Data] {
        let root = URL(filePath: "Tests/Fixtures")
        let paths = FileManager.default.subpaths(atPath: root.path()) ?? []
        return paths.sorted().filter(isIncluded).compactMap { path in
            guard let data = try? Data(contentsOf: root.appending(path: path)), (1...20_000).contains(data.count)
            else { return nil }
            return data
        }
    }
}
