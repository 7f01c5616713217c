// SPDX-License-Identifier: MIT

import Foundation
import WebImageTestBasics

/// The files of public bug reports with their correct results. Their directory is next to the checkout or is set with the
/// environment variable `WEBIMAGE_CASES`.
enum SharedCases {
    static let directory: URL? = {
        let environment = ProcessInfo.processInfo.environment["WEBIMAGE_CASES"]
        let beside = Fixtures.directory.appending(path: "../../../shared/cases").standardizedFileURL
        let folder = environment.map { URL(filePath: $0) } ?? beside
        return FileManager.default.fileExists(atPath: folder.appending(path: "README.md").path) ? folder : nil
    }()

    static func data(_ file: String) throws -> Data {
        guard let directory else { return Data() }
        return try Data(contentsOf: directory.appending(path: file))
    }
}
