// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCodecs
import WebImageCore

/// The coders of the commands, which don't use a manager.
package enum ProgramCoders {
    /// Returns the coders for an input, isolated in helper processes like those of a manager. This function doesn't start
    /// a helper.
    ///
    /// - Parameters:
    ///   - input: A URL, a path, or `-`. Only files that the user named may be decoded in process if no helper is
    ///     installed and the format requires one.
    ///   - isolatesAllFormats: Whether images of all formats are decoded in helper processes. Then files may not be
    ///     decoded in process, either. The default is `false`.
    package static func coders(for input: String, isolatesAllFormats: Bool = false) -> ImageCoderRegistry {
        let coders = isolatesAllFormats ? isolatedInAllFormats : isolated
        return isLocal(input) ? coders.local : coders.network
    }

    private static let isolated = IsolatedCoders(.standard, as: ImageManager.Configuration())
    private static let isolatedInAllFormats: IsolatedCoders = {
        var configuration = ImageManager.Configuration()
        configuration.decoding.isolatesAllFormats = true
        return IsolatedCoders(.standard, as: configuration)
    }()

    /// Returns whether the input is a file. Standard input often contains a download.
    private static func isLocal(_ input: String) -> Bool {
        input != "-" && (try? Inputs.resolved(input))?.isFileURL == true
    }
}
