// SPDX-License-Identifier: MIT

import CSandbox
import Glibc

/// The search for the helper program.
package enum HelperLocation {
    /// The name of the program.
    package static let name = "webimage-decoder"

    /// Returns the path of the helper, or the reason why there is none, as a clause. If the application chose no path,
    /// the function searches for one.
    package static func find(_ chosen: String?) -> (path: String?, reason: String) {
        if let chosen {
            // A relative path would depend on the current directory.
            guard chosen.hasPrefix("/") else { return (nil, "the path “\(chosen)” of the helper isn't absolute") }
            return isExecutable(chosen) ? (chosen, "") : (nil, "\(chosen) isn't an executable file")
        }
        for path in candidates where isExecutable(path) { return (path, "") }
        if let path = variable("WEBIMAGE_DECODER"), path.hasPrefix("/"), isExecutable(path) { return (path, "") }
        // An empty or relative directory of the search path depends on the current directory.
        for directory in (variable("PATH") ?? "").split(separator: ":") where directory.hasPrefix("/") {
            let path = "\(directory)/\(name)"
            if isExecutable(path) { return (path, "") }
        }
        return (nil, "no helper is installed")
    }

    /// Returns an environment variable. With more privileges than its caller, the program must not run code that the caller
    /// chooses, so the result is `nil` then.
    private static func variable(_ name: String) -> String? { wi_sandbox_variable(name).map { String(cString: $0) } }

    private static let candidates: [String] = {
        var paths = ["/usr/local/libexec/webimage/\(name)", "/usr/libexec/webimage/\(name)"]
        guard let program = realpath("/proc/self/exe", nil) else { return paths }
        defer { free(program) }
        let parts = String(cString: program).split(separator: "/").dropLast()
        let directory = "/" + parts.joined(separator: "/")
        let parent = parts.dropLast().isEmpty ? "" : "/" + parts.dropLast().joined(separator: "/")
        // A helper that was built with the program has the same version of the protocol, so its directories come first.
        paths.insert(contentsOf: ["\(directory)/\(name)", "\(parent)/libexec/webimage/\(name)"], at: 0)
        return paths
    }()

    private static func isExecutable(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
    }
}
