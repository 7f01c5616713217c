// SPDX-License-Identifier: MIT

/// The version of the package. This is the only place that contains it: `Scripts/version` reads this file for packages,
/// archives, and the AppStream metadata.
package enum ProductVersion {
    /// The version, according to Semantic Versioning.
    package static let current = "0.9.0"
}
