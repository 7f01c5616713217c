// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCodecs
import WebImageCore

/// The coders of the commands, which don't use a manager.
package enum ProgramCoders {
    /// Returns the coders for an input, isolated in helper processes like those of a manager with these limits. This
    /// function doesn't start a helper.
    ///
    /// - Parameters:
    ///   - input: A URL, a path, or `-`. Only files that the user named may be decoded in process if no helper is
    ///     installed and the format requires one. With the limits of servers, files may not, either.
    ///   - limits: The limits of the command. The default is those for desktop apps.
    package static func coders(for input: String, limits: ImageLimits = .desktop) -> ImageCoderRegistry {
        let coders = limits.areForServers ? forServers : isolated
        return isLocal(input) ? coders.local : coders.network
    }

    private static let isolated = IsolatedCoders(.standard, as: ImageManager.Configuration())
    private static let forServers: IsolatedCoders = {
        var configuration = ImageManager.Configuration()
        configuration.limits = .server
        return IsolatedCoders(.standard, as: configuration)
    }()

    /// Returns whether the input is a file. Standard input often contains a download.
    private static func isLocal(_ input: String) -> Bool {
        input != "-" && (try? Inputs.resolved(input))?.isFileURL == true
    }
}
